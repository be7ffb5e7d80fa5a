// Browsers start no worker for pages that are opened from the disk. There the search runs in a hidden frame instead.
"use strict"

class FrameWorker extends EventTarget {
  constructor(url) {
    super()
    const frame = document.createElement("iframe")
    frame.hidden = true
    document.body.appendChild(frame)
    this.frame = frame
    const inside = frame.contentWindow
    inside.document.open()
    inside.postMessage = data => {
      const event = new MessageEvent("message", { data })
      this.dispatchEvent(event)
      if (typeof this.onmessage === "function") this.onmessage(event)
    }
    inside.importScripts = (...urls) =>
      urls.reduce(
        (before, source) =>
          before.then(
            () =>
              new Promise((resolve, reject) => {
                const script = inside.document.createElement("script")
                script.src = source
                script.onload = resolve
                script.onerror = reject
                inside.document.body.appendChild(script)
              })
          ),
        Promise.resolve()
      )
    this.ready = new Promise(resolve => inside.addEventListener("load", resolve))
    inside.document.write(`<body><script src="${url}"></` + "script></body>")
    inside.document.close()
  }

  postMessage(data) {
    this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })))
  }

  terminate() {
    this.frame.remove()
  }
}

if (location.protocol === "file:") window.Worker = FrameWorker
