// Follows the glue in the worker's source. The first message is the WebAssembly; requests that
// arrive while it starts are kept and replayed.
self.onmessage = async ({ data }) => {
  const early = [];
  self.onmessage = (event) => early.push(event);
  try {
    await wasm_bindgen({ module_or_path: data });
  } catch (error) {
    self.postMessage({ fatal: String(error) });
    return;
  }
  for (const event of early) self.onmessage(event);
};
