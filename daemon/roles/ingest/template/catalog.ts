// The templates of DAGs: any order of tasks, one for each operator that takes data in, and journey tests.
import * as z from 'zod'
import { parseWithSchema } from '../../../kernel/error/parsing.ts'
import { type AssembledDag, assembledDag, dagTask } from '../../../shared/assembled-dag/assembled-dag.ts'
import type { DagFault } from '../../../shared/assembled-dag/task-order.ts'
import { journey } from '../journey-test/journey.ts'
import { operators } from '../operator/catalog.ts'
import type { Operator } from '../operator/operator.ts'

export type DagTemplate = {
  readonly name: string
  readonly summary: string
  /** What the content of a pipeline of this type must be: an assembled DAG, or what is rendered as one. */
  readonly form: z.ZodType
}

const assembled: DagTemplate = {
  name: 'assembled',
  summary: 'Tasks of any operators of the catalog, in any order without a cycle',
  form: assembledDag,
}

/** Operators that need nothing of a task before them. */
const sources = operators.filter(({ inputs, makes_dataset }) => makes_dataset && inputs.max === 0)

function templateOf({ name, summary, params }: Operator): DagTemplate {
  const first = dagTask.extend({ operator: z.literal(name), params })
  return {
    name,
    summary: `The first task: ${summary}`,
    form: assembledDag.extend({ tasks: z.tuple([first], dagTask) }),
  }
}

export const journeyTest: DagTemplate = {
  name: 'journey_test',
  summary: 'Hops over REST and MCP through services of the profile, and verifications of their responses',
  form: journey,
}

export const templates: readonly [DagTemplate, ...DagTemplate[]] = [assembled, ...sources.map(templateOf), journeyTest]

/** The names, for requests: a pipeline of another is refused. */
export const templateName = z.enum(templates.map(({ name }) => name) as [string, ...string[]])

const byName = new Map(templates.map((each) => [each.name, each]))

export function findTemplate(name: string): DagTemplate | undefined {
  return byName.get(name)
}

/** What keeps a DAG from being of a type. */
export function listTemplateFaults(name: string, dag: AssembledDag): DagFault[] {
  const found = byName.get(name)
  if (!found) return [{ path: '', message: `the catalog has no template ${name}: ${[...byName.keys()].join(', ')}` }]
  const parsed = parseWithSchema(found.form, dag)
  if (parsed.success) return []
  return parsed.errors.map(({ path, message }) => ({ path, message: `${message}, as a pipeline of the type ${name}` }))
}
