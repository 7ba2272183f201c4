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
    for (const [place, other] of after.entries())
      if (!placeOf.has(other))
        faults.push({ path: `tasks.${at}.after.${place}`, message: `no task has the name ${other}` })
  }
  if (faults.length > 0) return faults
  const cycle = findCycle(tasks)
  return cycle ? [{ path: 'tasks', message: `these wait for each other: ${cycle.join(' > ')}` }] : []
}

/** Orders tasks so that each follows those that it waits for; among others the order of the document holds. */
export function orderTasks(tasks: readonly DagTask[]): DagTask[] {
  const done = new Set<string>()
  const ordered: DagTask[] = []
  while (ordered.length < tasks.length) {
    const next = tasks.find(({ name, after }) => !done.has(name) && after.every((other) => done.has(other)))
    if (!next) throw new TypeError('the tasks wait for each other')
    done.add(next.name)
    ordered.push(next)
  }
  return ordered
}

/** Finds tasks that wait for each other, the first one repeated at the end. */
function findCycle(tasks: readonly DagTask[]): string[] | undefined {
  const byName = new Map(tasks.map((task) => [task.name, task]))
  const settled = new Set<string>()
  for (const { name } of tasks) {
    const path: string[] = []
    let task = byName.get(name)
    // Follows one open predecessor after another: the walk ends at a settled task, or meets itself.
    while (task && !settled.has(task.name)) {
      const met = path.indexOf(task.name)
      if (met >= 0) return [...path.slice(met), task.name]
      path.push(task.name)
      const open = task.after.find((other) => !settled.has(other))
      if (open === undefined) {
        settled.add(task.name)
        path.length = 0
        task = byName.get(name)
      } else task = byName.get(open)
    }
  }
  return undefined
}
