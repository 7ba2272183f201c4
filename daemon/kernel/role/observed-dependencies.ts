// Dependencies whose health is what the work of the role last found: a health check sends them no request.
import { type Dependency, type DependencyObservation, findingOfObservation } from './dependency.ts'
import { part } from './part.ts'

export class ObservedDependencies {
  readonly #last = new Map<string, DependencyObservation | undefined>()

  /** `names`: of the dependencies in the health of the role. */
  constructor(names: readonly string[]) {
    for (const name of names) this.#last.set(name, undefined)
  }

  /** Ignores a dependency that has another name, such as one that the settings no longer have. */
  observe(name: string, observation: DependencyObservation): void {
    if (this.#last.has(name)) this.#last.set(name, observation)
  }

  list(): Dependency[] {
    return [...this.#last.keys()].map((name) => ({
      name,
      probe: async () => findingOfObservation(this.#last.get(name)),
    }))
  }
}

export const observedDependenciesPart = part<ObservedDependencies>('observed-dependencies')
