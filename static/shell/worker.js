// The first message is the compiled module. Requests may follow while it starts: they are kept and
// replayed, because a message that finds no handler is lost.
import init from "./viewer.js";

self.onmessage = async ({ data }) => {
  const early = [];
  self.onmessage = (event) => early.push(event);
  try {
    await init({ module_or_path: data });
  } catch (error) {
    self.postMessage({ fatal: String(error) });
    return;
  }
  for (const event of early) self.onmessage(event);
};
