// Starts the viewer from the data blocks of its own page. Nothing is fetched.
(() => {
  const wasm = take("wasm");
  const profile = take("profile");
  const name = document.getElementById("profile-name").content.textContent;
  const workerSource = ["glue", "worker-boot"].map((id) => document.getElementById(id).textContent);

  globalThis.ipuStack = {
    embedded: new File([profile], name),
    startWorker() {
      const source = new Blob([workerSource.join("\n")], { type: "text/javascript" });
      const worker = new Worker(URL.createObjectURL(source));
      worker.postMessage(wasm);
      return worker;
    },
  };

  wasm_bindgen({ module_or_path: wasm }).catch((error) => {
    document.body.dataset.state = "failed";
    const notice = document.createElement("p");
    notice.className = "notice";
    notice.setAttribute("role", "alert");
    notice.textContent = `The viewer could not start: ${error}`;
    document.body.append(notice);
  });

  // The bytes of a data block, which leaves the page so that its text is not kept twice.
  function take(id) {
    const element = document.getElementById(id);
    const text = element.textContent;
    element.remove();
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
    const binary = atob(text);
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i += 1) bytes[i] = binary.charCodeAt(i);
    return bytes;
  }
})();
