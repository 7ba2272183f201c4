// The order of tasks for any DAG, and each fault by its path.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type DagTask, dagTask } from './assembled-dag.ts'
import { listOrderFaults, orderTasks } from './task-order.ts'

const taskOf = (name: string, ...after: string[]): DagTask => dagTask.parse({ name, operator: 'any', after })

test('each task follows those that it waits for, whatever the order of the document', () => {
  const graphs = fc.array(fc.array(fc.nat()), { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(graphs, fc.nat(), (edges, turn) => {
      const tasks = edges.map((list, at) => taskOf(`t${at}`, ...new Set(list.map((to) => `t${to % Math.max(1, at)}`))))
      const acyclic = tasks.map((task, at) => (at === 0 ? taskOf('t0') : task))
      const from = turn % acyclic.length
      const turned = [...acyclic.slice(from), ...acyclic.slice(0, from)]
      expect(listOrderFaults({ tasks: turned })).toEqual([])
      const names = orderTasks(turned).map(({ name }) => name)
      expect([...names].sort()).toEqual(acyclic.map(({ name }) => name).sort())
      for (const { name, after } of acyclic)
        for (const other of after) expect(names.indexOf(other)).toBeLessThan(names.indexOf(name))
    }),
  )
})

test('repeated names, unknown tasks and cycles are named', () => {
  expect(listOrderFaults({ tasks: [taskOf('a'), taskOf('a')] })).toEqual([
    { path: 'tasks.1.name', message: 'is the name of task 0 too: a' },
  ])
  expect(listOrderFaults({ tasks: [taskOf('a', 'b')] })).toEqual([
    { path: 'tasks.0.after.0', message: 'no task has the name b' },
  ])
  expect(listOrderFaults({ tasks: [taskOf('a'), taskOf('b', 'a', 'a')] })).toEqual([
    { path: 'tasks.1.after.1', message: 'is named before: a' },
  ])
  const cycle = [taskOf('a'), taskOf('b', 'a', 'd'), taskOf('c', 'b'), taskOf('d', 'c')]
  expect(listOrderFaults({ tasks: cycle })).toEqual([
    { path: 'tasks', message: 'these wait for each other: b > d > c > b' },
  ])
  expect(listOrderFaults({ tasks: [taskOf('a', 'a')] })[0]?.message).toBe('these wait for each other: a > a')
})
