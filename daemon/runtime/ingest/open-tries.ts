// The tries that are under way in this process, by the dataset that each makes; the only process that makes datasets of the site.

/** Of tasks that were closed: a step of a run that is over ends long before as many more are. */
const max_closed = 10_000

export class OpenTries {
  readonly #underWay = new Map<string, Promise<unknown>>()
  readonly #closed = new Set<string>()

  /** Throws for a dataset that was closed. */
  async track<T>(tenant_id: string, dataset: string, act: () => Promise<T>): Promise<T> {
    const key = keyOf(tenant_id, dataset)
    if (this.#closed.has(key)) throw new Error('the run of the task is over')
    const trying = act()
    // One that lost its job may still be under way as the next one begins.
    const all = Promise.allSettled([this.#underWay.get(key), trying])
    this.#underWay.set(key, all)
    try {
      return await trying
    } finally {
      if (this.#underWay.get(key) === all) this.#underWay.delete(key)
    }
  }

  /** Resolves once no try makes the dataset; none begins any more. */
  async close(tenant_id: string, dataset: string): Promise<void> {
    const key = keyOf(tenant_id, dataset)
    this.#closed.add(key)
    for (const oldest of this.#closed) {
      if (this.#closed.size <= max_closed) break
      this.#closed.delete(oldest)
    }
    await this.#underWay.get(key)
  }
}

function keyOf(tenant_id: string, dataset: string): string {
  return JSON.stringify([tenant_id, dataset])
}
