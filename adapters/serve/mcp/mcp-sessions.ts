// Sessions of the protocol revisions that have them: the caller that opened one, its revision, and its running requests.
import { type Refusal, refuse } from '../../../daemon/kernel/error/errors.ts'
import type { Caller } from '../../../daemon/kernel/identity/identity.ts'
import type { ClientAbilities } from '../../../daemon/kernel/tools/client-input.ts'
import { ClientInputs } from './client-inputs.ts'

export type McpSessionLimits = {
  /** Sessions that one caller has at once; a further one ends the one not used for longest. */
  readonly per_caller: number
  readonly idle_ms: number
  /** From its opening, regardless of use. */
  readonly age_ms: number
}

/** A session grants no rights: each of its requests is admitted by its own token. */
export class McpSession {
  readonly owner: string
  readonly revision: string
  readonly abilities: ClientAbilities
  readonly inputs = new ClientInputs()
  readonly opened_ms: number
  used_ms: number
  /** JSON-RPC id to the controller that cancels the request. */
  readonly running = new Map<string | number, AbortController>()
  /** The state of the list of tools that the client has read, or was last notified of. */
  listed: string | undefined
  /** Of the list of resources. */
  listed_resources: string | undefined
  #stream: AbortController | undefined

  constructor(owner: string, revision: string, abilities: ClientAbilities, now_ms: number) {
    this.owner = owner
    this.revision = revision
    this.abilities = abilities
    this.opened_ms = now_ms
    this.used_ms = now_ms
  }

  cancel(request: unknown): void {
    if (typeof request !== 'string' && typeof request !== 'number') return
    this.running.get(request)?.abort(cancelledRefusal())
  }

  /** The signal of the session's only stream: a client that opens another has lost the one before. */
  beginStream(): AbortSignal {
    this.#stream?.abort()
    this.#stream = new AbortController()
    return this.#stream.signal
  }

  cancelAll(): void {
    this.#stream?.abort()
    for (const controller of this.running.values()) controller.abort(cancelledRefusal())
  }
}

const cancelledRefusal = (): Refusal => refuse('timeout', 'the call was cancelled by its caller')

/** Of all callers: an entry is small, and each few need another token. */
const max_sessions = 10_000

export class McpSessions {
  /** In the order of use, so that the one not used for longest comes first. */
  readonly #sessions = new Map<string, McpSession>()
  readonly #limits: McpSessionLimits
  readonly #now: () => number
  readonly #random: (bytes: number) => string

  /** `now`: milliseconds that never go back. */
  constructor(limits: McpSessionLimits, now: () => number, random: (bytes: number) => string) {
    this.#limits = limits
    this.#now = now
    this.#random = random
  }

  get size(): number {
    return this.#sessions.size
  }

  /** The id of a new session of this caller. */
  open(caller: Caller, revision: string, abilities: ClientAbilities): string {
    const owner = sessionOwner(caller)
    const stale = [...this.#sessions].filter(([, session]) => this.#isOver(session))
    for (const [id] of stale) this.#end(id)
    const own = [...this.#sessions].filter(([, session]) => session.owner === owner)
    for (const [id] of own.slice(0, Math.max(0, own.length + 1 - this.#limits.per_caller))) this.#end(id)
    const [oldest] = this.#sessions.keys()
    if (this.#sessions.size >= max_sessions && oldest !== undefined) this.#end(oldest)
    const id = this.#random(32)
    this.#sessions.set(id, new McpSession(owner, revision, abilities, this.#now()))
    return id
  }

  /** The caller's session of this id; undefined for an ended or unknown one, and for another caller's. */
  find(id: string, caller: Caller): McpSession | undefined {
    const session = this.#sessions.get(id)
    if (!session || session.owner !== sessionOwner(caller)) return undefined
    if (this.#isOver(session)) {
      this.#end(id)
      return undefined
    }
    session.used_ms = this.#now()
    this.#sessions.delete(id)
    this.#sessions.set(id, session)
    return session
  }

  /** Ends the session and cancels its requests. False where `find` finds none. */
  end(id: string, caller: Caller): boolean {
    const isThere = this.find(id, caller) !== undefined
    if (isThere) this.#end(id)
    return isThere
  }

  #end(id: string): void {
    this.#sessions.get(id)?.cancelAll()
    this.#sessions.delete(id)
  }

  #isOver({ opened_ms, used_ms, running }: McpSession): boolean {
    const now = this.#now()
    if (now - opened_ms >= this.#limits.age_ms) return true
    return running.size === 0 && now - used_ms >= this.#limits.idle_ms
  }
}

function sessionOwner({ tenant_id, subject }: Caller): string {
  return JSON.stringify([tenant_id, subject])
}
