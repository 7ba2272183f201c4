// Calls of tools that services keep open while they wait for input: each goes on for the caller that made it, with the same
// input, and for nobody else.
import { sha256 } from '../../kernel/encoding/canonical-json.ts'
import { type HeldCall, InputRequiredResult } from '../../kernel/tools/client-input.ts'

/** Of all callers, and of one: a further one ends the one that waits for longest. */
const max_held = 512
const max_held_of_caller = 8

type HeldTool = { readonly service: string; readonly name: string }
export type HeldPlace<T> = { readonly call: HeldCall; readonly at: T; readonly tool: HeldTool }

type KeptCall<T> = HeldPlace<T> & { readonly caller: string; readonly terms: string }

/** By states that nobody can guess; `T`: where the call runs. */
export class HeldCalls<T> {
  /** In the order of their requests for input. */
  readonly #held = new Map<string, KeptCall<T>>()
  readonly #random: (bytes: number) => string

  constructor(random: (bytes: number) => string) {
    this.#random = random
  }

  /** What the client gets, with a state by which `take` finds the call. `terms`: what has to be the same then. */
  hold(caller: string, terms: string, { requests }: InputRequiredResult, place: HeldPlace<T>): InputRequiredResult {
    const own = [...this.#held].filter(([, held]) => held.caller === caller)
    if (own.length >= max_held_of_caller) this.#end(own[0]?.[0])
    if (this.#held.size >= max_held) this.#end(this.#held.keys().next().value)
    const state = this.#random(32)
    this.#held.set(state, { ...place, caller, terms: sha256(terms) })
    void place.call.ended.then(() => this.#held.delete(state))
    return new InputRequiredResult(requests, state, place.call)
  }

  /** Once: with more input to come, the call is held again. */
  take(caller: string, terms: string, state: string | undefined): HeldPlace<T> | undefined {
    const held = state === undefined ? undefined : this.#held.get(state)
    if (!held || state === undefined || held.caller !== caller || held.terms !== sha256(terms)) return undefined
    this.#held.delete(state)
    return held
  }

  endOf(isEnding: (tool: HeldTool) => boolean): void {
    for (const [state, { tool }] of [...this.#held]) if (isEnding(tool)) this.#end(state)
  }

  close(): void {
    for (const state of [...this.#held.keys()]) this.#end(state)
  }

  #end(state: string | undefined): void {
    if (state === undefined) return
    this.#held.get(state)?.call.end()
    this.#held.delete(state)
  }
}
