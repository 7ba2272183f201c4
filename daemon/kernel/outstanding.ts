// What was asked and not answered yet, by the number of the question.

/**
 * A list and no Map: each table that a Map has outgrown leads to the one after it. Once a dead one lies where the old is, all
 * that every later one holds counts as alive, is moved there too, and a server spends a third of its time on collecting it.
 */
export class Outstanding<T> {
  readonly #all: { readonly id: number; readonly what: T }[] = []
  #last = 0

  /** The number by which it is taken. */
  add(what: T): number {
    this.#last += 1
    this.#all.push({ id: this.#last, what })
    return this.#last
  }

  /** Undefined when nobody waits for it any longer. Answers mostly come in order, so it is among the first. */
  take(id: number): T | undefined {
    const at = this.#all.findIndex((each) => each.id === id)
    return at < 0 ? undefined : this.#all.splice(at, 1)[0]?.what
  }
}
