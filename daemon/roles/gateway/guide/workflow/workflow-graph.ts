// A DAG as hints look at it: which tasks follow which, and along which edges datasets go.
import type { AssembledDag, DagTask } from '../../../../shared/assembled-dag/assembled-dag.ts'
import { type OperatorTraits, operatorTraits } from './operator-traits.ts'

/** A task with its place in the DAG. `traits` is undefined for an operator that the table does not know. */
export type WorkflowNode = {
  readonly at: number
  readonly task: DagTask
  readonly traits: OperatorTraits | undefined
  /** Places of the tasks before it, in the order in which it names them; and of those whose datasets it takes. */
  readonly before: readonly number[]
  readonly inputs: readonly number[]
}

const word_bits = 32

/** For each task a set of places, as bits. */
class PlaceSets {
  readonly #words: number
  readonly #bits: Uint32Array

  constructor(size: number) {
    this.#words = Math.ceil(size / word_bits)
    this.#bits = new Uint32Array(size * this.#words)
  }

  add(at: number, place: number): void {
    const word = at * this.#words + (place >>> 5)
    this.#bits[word] = (this.#bits[word] ?? 0) | (1 << (place & 31))
  }

  /** Adds the set of another task, of these sets or of others. */
  addAllOf(at: number, other: number, of: PlaceSets = this): void {
    for (let word = 0; word < this.#words; word += 1) {
      const to = at * this.#words + word
      this.#bits[to] = (this.#bits[to] ?? 0) | (of.#bits[other * this.#words + word] ?? 0)
    }
  }

  has(at: number, place: number): boolean {
    return ((this.#bits[at * this.#words + (place >>> 5)] ?? 0) & (1 << (place & 31))) !== 0
  }
}

export class WorkflowGraph {
  readonly tasks: readonly WorkflowNode[]
  readonly #order: readonly number[]
  readonly #ancestors: PlaceSets
  /** Ancestors of the tasks before each task: those that it follows without naming them. */
  readonly #implied: PlaceSets
  readonly #feeders: PlaceSets

  private constructor(tasks: readonly WorkflowNode[], order: readonly number[]) {
    this.tasks = tasks
    this.#order = order
    this.#ancestors = new PlaceSets(tasks.length)
    this.#implied = new PlaceSets(tasks.length)
    this.#feeders = new PlaceSets(tasks.length)
    for (const at of order) {
      // Those named last first: they often have the others before them, whose sets are then in theirs.
      for (const place of tasks[at]?.before.toReversed() ?? []) {
        extend(this.#ancestors, at, place)
        if (!this.#implied.has(at, place)) this.#implied.addAllOf(at, place, this.#ancestors)
      }
      for (const place of tasks[at]?.inputs.toReversed() ?? []) extend(this.#feeders, at, place)
    }
  }

  /** Undefined for a DAG that has no order: one with repeated names, unknown tasks or a cycle, whose faults its deployment names. */
  static open({ tasks }: Pick<AssembledDag, 'tasks'>): WorkflowGraph | undefined {
    const placeOf = new Map(tasks.map(({ name }, at) => [name, at]))
    if (placeOf.size < tasks.length) return undefined
    const linked: WorkflowNode[] = []
    for (const [at, task] of tasks.entries()) {
      const before = [...new Set(task.after)].map((name) => placeOf.get(name))
      if (!before.every((place) => place !== undefined)) return undefined
      const traits = operatorTraits.get(task.operator)
      const reads = traits?.reads ?? true
      const inputs = before.filter((place) => reads && makesDataset(tasks[place]))
      linked.push({ at, task, traits, before, inputs })
    }
    const order = sortPlaces(linked)
    return order.length < linked.length ? undefined : new WorkflowGraph(linked, order)
  }

  /** The tasks, each after those that it follows. */
  inOrder(): WorkflowNode[] {
    return this.#order.flatMap((at) => this.tasks[at] ?? [])
  }

  /** Whether `at` begins only once `earlier` has succeeded. */
  follows(at: number, earlier: number): boolean {
    return this.#ancestors.has(at, earlier)
  }

  /** Whether it does so by another task before it, whether or not it names `earlier`. */
  impliesEdge(at: number, earlier: number): boolean {
    return this.#implied.has(at, earlier)
  }

  /** Whether rows of `from` may reach `to`, through the tasks between them. */
  feeds(from: number, to: number): boolean {
    return this.#feeders.has(to, from)
  }

  /** The tasks whose rows may reach the task. */
  feedersOf(at: number): WorkflowNode[] {
    return this.tasks.filter((other) => this.feeds(other.at, at))
  }

  /** The tasks that the rows of the task may reach. */
  fedBy(at: number): WorkflowNode[] {
    return this.tasks.filter((other) => this.feeds(at, other.at))
  }
}

/** An operator that is not known may make a dataset. */
function makesDataset(task: DagTask | undefined): boolean {
  return task !== undefined && (operatorTraits.get(task.operator)?.makes_dataset ?? true)
}

/** Adds a place with its own set; where the place is there already, its set is too. */
function extend(sets: PlaceSets, at: number, place: number): void {
  if (sets.has(at, place)) return
  sets.add(at, place)
  sets.addAllOf(at, place)
}

/** After Kahn; fewer places than tasks where some wait for each other. */
function sortPlaces(tasks: readonly WorkflowNode[]): number[] {
  const open = tasks.map(({ before }) => before.length)
  const followers = tasks.map((): number[] => [])
  for (const { at, before } of tasks) for (const place of before) followers[place]?.push(at)
  const order = tasks.filter(({ before }) => before.length === 0).map(({ at }) => at)
  for (const place of order)
    for (const at of followers[place] ?? []) {
      const left = (open[at] ?? 0) - 1
      open[at] = left
      if (left === 0) order.push(at)
    }
  return order
}
