// Entry point of the thread that reads a PDF: it answers each request for a page with the lines on it. A script of its own in the executable.
import { parentPort, workerData } from 'node:worker_threads'
import { openPdfSession } from './pdf-session.ts'
import { linesOfItems } from './text-lines.ts'

// Programs within documents are not run; the library itself would compile some functions of colours.
globalThis.Function = (() => {
  throw new Error('no code is made from texts')
}) as unknown as FunctionConstructor

const session = openPdfSession(workerData as Uint8Array)

session.pages.then(
  (pages) => parentPort?.postMessage({ kind: 'opened', pages }),
  (error: Error) => parentPort?.postMessage({ kind: 'failed', name: error.name, message: error.message }),
)

parentPort?.on('message', (page: number) => {
  session.readPage(page).then(
    (items) => parentPort?.postMessage({ kind: 'page', page, lines: linesOfItems(items) }),
    (error: Error) => parentPort?.postMessage({ kind: 'bad_page', page, message: error.message }),
  )
})
