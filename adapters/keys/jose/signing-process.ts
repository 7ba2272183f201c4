// One process of a signing command: lines in, lines out, each within a limit of time and size.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import type { Writable } from 'node:stream'
import { startTimeLimit } from '../../platform/time-limit/time-limit.ts'

/** A signature of ML-DSA-87 is an answer of 6.2 KiB. */
const max_answer_bytes = 16_384

/** Nothing of the site reaches the command: no variable, no credential, no working folder. */
const environment = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C' }

type PendingAnswer = { resolve(line: string): void; reject(error: Error): void }

/** The message of each error is a fault that may be shown: it quotes nothing of what the command wrote. */
export class SigningProcess {
  readonly #child: ChildProcessWithoutNullStreams
  #buffer = ''
  #pending: PendingAnswer | undefined
  #fault: Error | undefined
  #exit: number | null | undefined
  #onExit: (() => void) | undefined

  constructor(program: string) {
    // A group of its own, so that a command that hangs is ended with all that it started.
    this.#child = spawn(program, [], { cwd: '/', detached: true, env: environment, stdio: 'pipe' })
    this.#child.on('error', () => this.#fail('could not be started'))
    this.#child.on('close', (code) => this.#end(code))
    // Standard error of a module's tool may quote a PIN, so it is discarded.
    this.#child.stderr.resume()
    // A command that ends early closes its input; its exit is the fault that counts.
    this.#child.stdin.on('error', () => undefined)
    this.#child.stdout.setEncoding('utf8').on('data', (text: string) => this.#read(text))
  }

  get isUsable(): boolean {
    return this.#fault === undefined && this.#buffer === ''
  }

  /** Writes the line and returns the next one. Rejects with the fault, after which the process is dead. */
  async ask(line: string, limit_ms: number): Promise<string> {
    if (this.#fault) throw this.#fault
    const limit = startTimeLimit(limit_ms)
    limit.signal.addEventListener('abort', () => this.#fail(`did not answer within ${limit_ms} ms`))
    this.#hold(true)
    try {
      return await new Promise<string>((resolve, reject) => {
        this.#pending = { resolve, reject }
        this.#child.stdin.write(`${line}\n`)
      })
    } finally {
      limit.end()
      this.#pending = undefined
      this.#hold(false)
    }
  }

  /** Closes the input and waits for the end. Throws if the command answers more, fails, or stays. */
  async finish(limit_ms: number): Promise<void> {
    const limit = startTimeLimit(limit_ms)
    this.#hold(true)
    await new Promise<void>((done) => {
      this.#onExit = done
      if (this.#exit !== undefined || this.#fault) done()
      limit.signal.addEventListener('abort', () => this.#fail(`did not end within ${limit_ms} ms`))
      this.#child.stdin.end()
    })
    limit.end()
    if (this.#exit !== 0) throw this.#fault ?? new Error('was ended')
    if (this.#buffer !== '') throw new Error('answered more than one line')
  }

  kill(): void {
    this.#fail('was ended')
  }

  #read(text: string): void {
    this.#buffer += text
    const end = this.#buffer.indexOf('\n')
    if (this.#buffer.length > max_answer_bytes) this.#fail(`answered more than ${max_answer_bytes} bytes`)
    if (end < 0 || !this.#pending) return
    const line = this.#buffer.slice(0, end)
    this.#buffer = this.#buffer.slice(end + 1)
    this.#pending.resolve(line)
    this.#pending = undefined
  }

  #end(code: number | null): void {
    this.#exit = code
    this.#settle(new Error(code === 0 || code === null ? 'ended without an answer' : `failed with exit code ${code}`))
  }

  #fail(reason: string): void {
    const { pid } = this.#child
    if (pid !== undefined && this.#exit === undefined) killGroup(pid)
    // A process that left the group may still hold the pipes: nothing waits for them.
    for (const stream of [this.#child.stdin, this.#child.stdout, this.#child.stderr]) stream.destroy()
    this.#settle(new Error(reason))
  }

  #settle(fault: Error): void {
    this.#fault ??= fault
    this.#pending?.reject(this.#fault)
    this.#onExit?.()
  }

  /** A resident command keeps this process running only while an answer is awaited. */
  #hold(awaits: boolean): void {
    const { stdin, stdout, stderr } = this.#child
    const handles = [this.#child, stdin, stdout, stderr] as readonly (Writable & { ref?(): void; unref?(): void })[]
    for (const handle of handles) (awaits ? handle.ref : handle.unref)?.call(handle)
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It ended by itself.
  }
}
