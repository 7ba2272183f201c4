// Where a thread of the public proxy begins; the executable holds it as a bundle of its own.
import { parentPort, workerData } from 'node:worker_threads'
import type { FromThread, ToThread } from './messages.ts'
import type { ThreadStart } from './supervisor.ts'
import type { ThreadConfig } from './thread-config.ts'
import { Thread } from './thread-work.ts'

const port = parentPort
if (!port) throw new TypeError('this is no program: it is started as a thread')
const thread = new Thread(workerData as ThreadStart<ThreadConfig>, (message: FromThread) => port.postMessage(message))
port.on('message', (message: ToThread<ThreadConfig>) => {
  thread.hear(message, () => port.close())
})
void thread.listen()
