// Where a thread of the public proxy begins; the executable holds it as a bundle of its own.
import { parentPort, workerData } from 'node:worker_threads'
import { ProxyWorker } from './proxy-worker.ts'
import type { ProxyThreadConfig } from './thread-config.ts'
import type { MessageFromThread, MessageToThread } from './thread-messages.ts'
import type { ThreadStartData } from './thread-supervisor.ts'

const port = parentPort
if (!port) throw new TypeError('this is no program: it is started as a thread')
const thread = new ProxyWorker(workerData as ThreadStartData<ProxyThreadConfig>, (message: MessageFromThread) =>
  port.postMessage(message),
)
port.on('message', (message: MessageToThread<ProxyThreadConfig>) => {
  thread.receive(message, () => port.close())
})
void thread.listen()
