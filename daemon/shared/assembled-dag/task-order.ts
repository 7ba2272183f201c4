// The order of the tasks of a DAG, and the faults that leave none.
import type { AssembledDag, DagTask } from './assembled-dag.ts'

/** A fault of a DAG by the path of the field, as problem documents show it. */
export type DagFault = { readonly path: string; readonly message: string }

/** Lists repeated names, unknown predecessors, and the tasks that wait for each other. */
export function listOrderFaults({ tasks }: Pick<AssembledDag, 'tasks'>): DagFault[] {
  const placeOf = new Map<string, number>()
  const faults: DagFault[] = []
  for (const [at, { name }] of tasks.entries()) {
    const earlier = placeOf.get(name)
    if (earlier === undefined) placeOf.set(name, at)
    else faults.push({ path: `tasks.${at}.name`, message: `is the name of task ${earlier} too: ${name}` })
  }
  for (const [at, { after }] of tasks.entries()) {
    for (const [place, other] of after.entries()) {
      const path = `tasks.${at}.after.${place}`
      if (!placeOf.has(other)) faults.push({ path, message: `no task has the name ${other}` })
      else if (after.indexOf(other) < place) faults.push({ path, message: `is named before: ${other}` })
    }
  }
  if (faults.length > 0) return faults
  const { blocked } = sortTasks(tasks)
  if (blocked.length === 0) return []
  return [{ path: 'tasks', message: `these wait for each other: ${findCycle(blocked).join(' > ')}` }]
}

/** Orders tasks so that each follows those that it waits for. Throws `TypeError` for a DAG with faults. */
export function orderTasks(tasks: readonly DagTask[]): DagTask[] {
  const { ordered, blocked } = sortTasks(tasks)
  if (blocked.length > 0) throw new TypeError('the tasks wait for each other')
  return ordered
}

/** After Kahn, "Topological sorting of large networks", 1962. `blocked`: tasks of cycles, and those that wait for them. */
function sortTasks(tasks: readonly DagTask[]): { readonly ordered: DagTask[]; readonly blocked: DagTask[] } {
  const open = new Map(tasks.map(({ name, after }) => [name, after.length]))
  const followers = new Map<string, DagTask[]>()
  for (const task of tasks)
    for (const other of task.after) {
      const list = followers.get(other)
      if (list) list.push(task)
      else followers.set(other, [task])
    }
  const ordered = tasks.filter(({ after }) => after.length === 0)
  for (const { name } of ordered)
    for (const follower of followers.get(name) ?? []) {
      const left = (open.get(follower.name) ?? 0) - 1
      open.set(follower.name, left)
      if (left === 0) ordered.push(follower)
    }
  return { ordered, blocked: tasks.filter(({ name }) => (open.get(name) ?? 0) > 0) }
}

/** Finds tasks that wait for each other, the first one repeated at the end: each blocked task waits for a blocked one. */
function findCycle(blocked: readonly DagTask[]): string[] {
  const byName = new Map(blocked.map((task) => [task.name, task]))
  const path: string[] = []
  for (let task = blocked[0]; task; ) {
    const met = path.indexOf(task.name)
    if (met >= 0) return [...path.slice(met), task.name]
    path.push(task.name)
    const next: string | undefined = task.after.find((other) => byName.has(other))
    task = next === undefined ? undefined : byName.get(next)
  }
  return path
}
