// Resolves the records of the datasets before it by a lens, into the registry of the site.
import * as z from 'zod'
import { requiredText } from '../../../kernel/operation/required-text.ts'
import { taskName } from '../../../shared/assembled-dag/assembled-dag.ts'
import { resolutionTerms } from '../../../shared/resolution-run/resolution-run.ts'
import { operator } from './operator.ts'

/** Nodes of a run of the resolution role. */
const max_nodes = 64

export const resolveRun = operator({
  name: 'resolve_run',
  summary: 'Resolve the records of datasets by a lens: extract, match and resolve, in the registry of the site',
  inputs: { min: 1, max: max_nodes },
  makes_dataset: false,
  requests: 'resolution',
  params: z.strictObject({
    ...resolutionTerms,
    nodes: z
      .record(taskName, requiredText(256))
      .optional()
      .meta({ description: 'Node of the records of a task before, by task; default: the name of the task' }),
  }),
  findInputFault({ nodes = {} }, inputs) {
    const unknown = Object.keys(nodes).find((name) => !inputs.includes(name))
    if (unknown !== undefined) return `nodes names ${unknown}, which is not a task before it that makes a dataset`
    const names = new Set(inputs.map((name) => nameNode(nodes, name)))
    return names.size < inputs.length ? 'two tasks before it have the same node' : undefined
  },
})

/** The node of the records of a task, which may have the name of what every object has. */
export function nameNode(nodes: Readonly<Record<string, string>>, task: string): string {
  return (Object.hasOwn(nodes, task) ? nodes[task] : undefined) ?? task
}
