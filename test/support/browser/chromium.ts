// A headless Chromium, driven by its own protocol: pages of files, keys, downloads, and what its console says.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'

export const browser_program = 'chromium'

// biome-ignore lint/suspicious/noExplicitAny: answers of a protocol with hundreds of types
type Answer = any

export type BrowserPage = {
  /** Opens a file; resolves when it has loaded. */
  open(file: string): Promise<void>
  /** Value of an expression in the page, which must be JSON. */
  read(expression: string): Promise<Answer>
  /** Presses a key as a person does. */
  press(key: string): Promise<void>
  emulate(command: string, parameters: object): Promise<Answer>
  /** Errors, warnings and refusals of policies that the console has shown, and requests that left the machine. */
  readonly complaints: readonly string[]
  /** Folder of downloads. */
  readonly downloads: string
  close(): Promise<void>
}

/** Starts a browser with one page. */
export async function openBrowser(): Promise<BrowserPage> {
  const folder = mkdtempSync(path.join(tmpdir(), 'platform-browser-'))
  const flags = [
    '--headless',
    '--disable-gpu',
    '--no-first-run',
    '--remote-debugging-port=0',
    `--user-data-dir=${folder}`,
  ]
  // As root, Chromium starts without a sandbox only. It opens files of the test alone.
  const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  const child = spawn(browser_program, [...flags, ...sandbox, 'about:blank'], { stdio: ['ignore', 'ignore', 'pipe'] })
  const address = await readAddress(child)
  const targets: Answer = await (
    await fetch(`${address.replace('ws:', 'http:').replace(/\/devtools.*/, '')}/json/list`)
  ).json()
  const page = targets.find((target: { type: string }) => target.type === 'page')
  const connection = await connect(page.webSocketDebuggerUrl)
  const { send, on } = connection
  const complaints: string[] = []
  on('Log.entryAdded', ({ entry }) => complaints.push(entry.text))
  on('Runtime.exceptionThrown', ({ exceptionDetails }) =>
    complaints.push(exceptionDetails.exception?.description ?? exceptionDetails.text),
  )
  on('Runtime.consoleAPICalled', ({ args }) => complaints.push(args.map((each: Answer) => each.value).join(' ')))
  on('Network.requestWillBeSent', ({ request }) => {
    if (!/^(file|blob|data|about):/.test(request.url)) complaints.push(`request: ${request.url}`)
  })
  for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await send(`${domain}.enable`)
  await send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: folder, eventsEnabled: true })
  const read = async (expression: string) => {
    const { result, exceptionDetails } = await send('Runtime.evaluate', {
      expression,
      returnByValue: true,
      awaitPromise: true,
    })
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
    return result.value
  }
  return {
    async open(file) {
      const loaded = new Promise<void>((resolve) => on('Page.loadEventFired', () => resolve()))
      await send('Page.navigate', { url: pathToFileURL(file).href })
      await loaded
    },
    read,
    async press(key) {
      const text = key.length === 1 ? { text: key } : {}
      await send('Input.dispatchKeyEvent', { type: 'keyDown', key, ...text })
      await send('Input.dispatchKeyEvent', { type: 'keyUp', key })
    },
    emulate: send,
    complaints,
    downloads: folder,
    async close() {
      const ended = new Promise((resolve) => child.once('close', resolve))
      await send('Browser.close').catch(() => child.kill())
      await ended
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** The address that the browser writes when it listens. */
async function readAddress(child: ChildProcess): Promise<string> {
  if (!child.stderr) throw new Error('the browser has no standard error')
  const lines: string[] = []
  for await (const line of createInterface({ input: child.stderr })) {
    lines.push(line)
    const [, address] = /DevTools listening on (ws:\S+)/.exec(line) ?? []
    if (address !== undefined) {
      child.stderr.resume()
      return address
    }
  }
  throw new Error(`the browser did not start: ${lines.join('; ')}`)
}

async function connect(address: string) {
  const socket = new WebSocket(address)
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve())
    socket.addEventListener('error', () => reject(new Error(`no connection to ${address}`)))
  })
  const pending = new Map<number, { resolve(answer: Answer): void; reject(error: Error): void }>()
  const listeners: { method: string; act: (parameters: Answer) => void }[] = []
  socket.addEventListener('close', () => {
    for (const { reject } of pending.values()) reject(new Error('the browser has closed the connection'))
  })
  socket.addEventListener('message', ({ data }) => {
    const { id, result, error, method, params } = JSON.parse(String(data))
    const waiting = pending.get(id)
    pending.delete(id)
    if (error) waiting?.reject(new Error(error.message))
    else waiting?.resolve(result)
    for (const listener of listeners) if (listener.method === method) listener.act(params)
  })
  let count = 0
  return {
    on: (method: string, act: (parameters: Answer) => void) => void listeners.push({ method, act }),
    send(method: string, params: object = {}): Promise<Answer> {
      const id = ++count
      return new Promise((resolve, reject) => {
        pending.set(id, { resolve, reject })
        socket.send(JSON.stringify({ id, method, params }))
      })
    },
  }
}
