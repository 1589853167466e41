// Starts the viewer: one compilation of the WebAssembly serves the page and its worker.
import init from "./viewer.js";

const saved = readTheme();
if (saved === "light" || saved === "dark") document.documentElement.dataset.theme = saved;

try {
  const module = await compile(new URL("./viewer_bg.wasm", import.meta.url));
  globalThis.ipuStack = {
    startWorker() {
      const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
      // Before any request: the worker takes its first message for the module.
      worker.postMessage(module);
      return worker;
    },
  };
  await init({ module_or_path: module });
} catch (error) {
  document.body.dataset.state = "failed";
  const notice = document.createElement("p");
  notice.className = "notice";
  notice.setAttribute("role", "alert");
  notice.textContent = `The viewer could not start: ${error}`;
  document.body.append(notice);
}

async function compile(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url.pathname} answered ${response.status}`);
  try {
    return await WebAssembly.compileStreaming(response.clone());
  } catch {
    // A host that serves the file under another media type.
    return WebAssembly.compile(await response.arrayBuffer());
  }
}

function readTheme() {
  try {
    return localStorage.getItem("ipu-stack.theme");
  } catch {
    return null; // Storage is refused.
  }
}
