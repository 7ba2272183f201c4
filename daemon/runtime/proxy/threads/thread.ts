// Entry point of a thread of the public proxy; the executable holds it as a separate bundle.
import { parentPort, workerData } from 'node:worker_threads'
import { ProxyWorker } from './proxy-worker.ts'
import type { ProxyThreadConfig } from './thread-config.ts'
import type { MessageFromThread, MessageToThread } from './thread-messages.ts'
import type { ThreadStartData } from './thread-supervisor.ts'

const port = parentPort
if (!port) throw new TypeError('thread.ts runs as a worker thread only; start the proxy with `platform serve`')
const thread = new ProxyWorker(workerData as ThreadStartData<ProxyThreadConfig>, (message: MessageFromThread) =>
  port.postMessage(message),
)
port.on('message', (message: MessageToThread<ProxyThreadConfig>) => {
  thread.receive(message, () => port.close())
})
void thread.listen()
