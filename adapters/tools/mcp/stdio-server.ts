// One tool server of the site: a process that is started when it is needed, serves all callers over one connection, and is
// ended when it is idle, broken or not needed any more.
import { setTimeout as wait } from 'node:timers/promises'
import { isRefusal, type Refusal, refuse } from '../../../daemon/kernel/error/errors.ts'
import type { SandboxResult } from '../../../daemon/kernel/sandbox/sandbox.ts'
import type { StdioServerPlan } from '../../../daemon/kernel/tools/stdio-server.ts'
import { startTimeLimit } from '../../platform/time-limit/time-limit.ts'
import { McpConnection, type McpConnectionOptions } from './connect-tools.ts'
import { StdioTransport } from './stdio-transport.ts'
import { Waits } from './waits.ts'

/** How long a server has to end by itself once its input is closed. */
const goodbye_ms = 2_000

export type StdioProcess = {
  readonly connection: McpConnection
  readonly transport: StdioTransport
  /** Resolves once it is connected; rejects with the refusal that says why not. */
  readonly opened: Promise<void>
  /** Resolves once nothing of it is left. */
  readonly ended: Promise<void>
  readonly kill: () => void
  /** This side has ended it, since nobody needed it. */
  isDismissed: boolean
}

type StdioUse = {
  readonly signal?: AbortSignal | undefined
  /** Of the start, where it is needed. */
  readonly timeout_ms?: number
  readonly isUse: boolean
}

export class StdioServer {
  readonly #plan: StdioServerPlan
  readonly #about: McpConnectionOptions['about']
  #process: StdioProcess | undefined
  #calls = 0
  #used_ms = 0
  #isClosed = false
  readonly #starts = new Waits()

  constructor(plan: StdioServerPlan, about: McpConnectionOptions['about']) {
    this.#plan = plan
    this.#about = about
  }

  /** The process that is connected, or about to be. */
  get process(): StdioProcess | undefined {
    return this.#process
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Starts it where it does not run. The signal ends the wait of this caller alone. */
  async open(signal: AbortSignal | undefined, timeout_ms?: number): Promise<StdioProcess> {
    this.#calls += 1
    const limit = timeout_ms === undefined ? undefined : startTimeLimit(timeout_ms)
    try {
      const process = this.#process ?? this.#start()
      const ending = AbortSignal.any([signal, limit?.signal].filter((each) => each !== undefined))
      const isLate = () => limit?.signal.aborted === true
      const reason = () => (isLate() ? `${this.#plan.name} did not start within ${timeout_ms} ms` : cancelled_call)
      await untilAborted(process.opened, ending, reason)
      return process
    } finally {
      limit?.end()
      this.#calls -= 1
    }
  }

  /** Performs something over the connection, which is not ended as idle meanwhile; `isUse`: nor soon after it. */
  async perform<T>({ signal, timeout_ms, isUse }: StdioUse, run: (process: StdioProcess) => Promise<T>): Promise<T> {
    this.#calls += 1
    try {
      const process = await this.open(signal, timeout_ms)
      const { received_bytes } = process.transport
      try {
        return await run(process)
      } catch (error) {
        const isLate = isRefusal(error) && error.code === 'timeout' && signal?.aborted !== true
        // It may hang for good. One that wrote something meanwhile serves other calls.
        if (isLate && process.transport.received_bytes === received_bytes)
          this.#breakOff(process, this.#refuse('wrote nothing during a whole call'))
        throw isLate ? error : (process.transport.fault ?? error)
      }
    } finally {
      this.#calls -= 1
      if (isUse) this.#used_ms = this.#plan.now()
    }
  }

  /** Resolves when a process has been started, when the server is closed, or with the signal. */
  async waitForStart(signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.#isClosed || this.#process) return
    await this.#starts.wait(signal)
  }

  /** Ends a process that nobody has used for this long. */
  async endIdle(idle_ms: number): Promise<void> {
    if (this.#calls === 0 && this.#plan.now() - this.#used_ms >= idle_ms) await this.#dismiss()
  }

  /** Starts no more. Waits this long for the calls that run; resolves once nothing of the process is left. */
  async close(drain_ms: number): Promise<void> {
    this.#isClosed = true
    this.#starts.wake()
    const until = this.#plan.now() + drain_ms
    while (this.#calls > 0 && this.#plan.now() < until) await wait(look_pause_ms)
    await this.#dismiss()
  }

  #start(): StdioProcess {
    if (this.#isClosed) throw this.#refuse('is stopped, since the gateway is stopping')
    const { name, limits, start } = this.#plan
    const killing = new AbortController()
    const kill = () => killing.abort()
    const transport = new StdioTransport(limits, kill)
    let endReports: (cause: unknown) => void = () => undefined
    const connection = new McpConnection(
      name,
      ({ onEnd }, terms) => {
        transport.terms = terms
        endReports = (cause) => onEnd({ hasResponse: false, cause })
        return { transport, withSignal: (headers) => ({ ...headers }), close: () => undefined }
      },
      { about: this.#about, limits },
    )
    const ended = start((streams) => transport.attach(streams), killing.signal).then(async (result) => {
      const fault = transport.fault
      transport.fail(this.#refuse(describeEnd(result)))
      endReports(transport.fault)
      await connection.close()
      this.#forget(process)
      this.#plan.onEnd(process.isDismissed ? undefined : (fault?.message ?? explainEnd(result)))
    })
    const opened = connection.open(undefined).catch((error: Refusal) => {
      this.#breakOff(process, error)
      throw transport.fault
    })
    opened.then(
      () => {
        this.#used_ms = this.#plan.now()
        this.#plan.onStart()
      },
      () => undefined,
    )
    const process: StdioProcess = { connection, transport, opened, ended, kill, isDismissed: false }
    this.#process = process
    this.#used_ms = this.#plan.now()
    this.#starts.wake()
    return process
  }

  #breakOff(process: StdioProcess, fault: Refusal): void {
    process.transport.fail(fault)
    process.kill()
    this.#forget(process)
  }

  /** Closes its input first: a sound server ends by itself. */
  async #dismiss(): Promise<void> {
    const process = this.#process
    if (!process) return
    this.#forget(process)
    process.isDismissed = true
    await process.connection.close()
    const impatience = new AbortController()
    const pause = wait(goodbye_ms, undefined, { signal: impatience.signal }).then(process.kill, () => undefined)
    await Promise.race([process.ended, pause])
    impatience.abort()
    await process.ended
  }

  #forget(process: StdioProcess): void {
    if (this.#process === process) this.#process = undefined
  }

  #refuse(reason: string): Refusal {
    return refuse('unavailable', `${this.#plan.name} ${reason}`)
  }
}

const look_pause_ms = 20

/** For callers, who do not learn paths of the machine. */
function describeEnd(result: SandboxResult): string {
  return result.kind === 'not_started'
    ? 'could not be started: the registry and the log of the gateway have the reason'
    : explainEnd(result)
}

function explainEnd(result: SandboxResult): string {
  switch (result.kind) {
    case 'exited':
      return `ended with exit code ${result.code}`
    case 'signalled':
      return `was ended by ${result.signal}`
    case 'exceeded':
      return `was ended, since it exceeded the limit ${result.limit}`
    case 'cancelled':
      return 'was ended'
    case 'not_started':
      return `could not be started: ${result.detail}`
  }
}

const cancelled_call = 'the call was cancelled by its caller'

/** `reason`: of the refusal, once the signal is aborted. */
async function untilAborted(promise: Promise<void>, signal: AbortSignal, reason: () => string): Promise<void> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const abort = () => reject(refuse('timeout', reason()))
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort, { once: true })
  try {
    await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
