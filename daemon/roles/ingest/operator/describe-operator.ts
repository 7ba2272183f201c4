// Describes operators of the catalog for authors: what each does, and the JSON Schema of its parameters.
import * as z from 'zod'
import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { wholeList, wholeListSchema } from '../../../kernel/operation/paging.ts'
import { runConf } from '../dag-run/run-fields.ts'
import { count, jsonSchema, renderSchema, shortText } from '../fields.ts'
import { findOperator, operators } from './catalog.ts'
import type { Operator } from './operator.ts'

const summaryFields = {
  name: shortText,
  summary: z.string(),
  inputs: z
    .strictObject({ min: count, max: count })
    .meta({ description: 'Datasets that it takes from the tasks before it' }),
  makes_dataset: z.boolean(),
}
export const operatorList = wholeListSchema(z.strictObject(summaryFields)).meta({ id: 'OperatorList' })

export const operatorSchema = z
  .strictObject({
    ...summaryFields,
    compose: jsonSchema.meta({ description: 'JSON Schema of the parameters that the author sets' }),
    runtime: jsonSchema.meta({ description: 'JSON Schema of the values that a request for a run carries' }),
  })
  .meta({ id: 'OperatorSchema' })
type OperatorSchema = z.output<typeof operatorSchema>

export function listOperators(): z.output<typeof operatorList> {
  return wholeList(operators.map(summarize))
}

export function describeOperator(name: string): OperatorSchema | Refusal {
  const found = findOperator(name)
  if (!found) return refuse('not_found', 'the catalog has no such operator: list them without a name')
  return describe(found)
}

let catalog: OperatorSchema[] | undefined

/** Every operator of the catalog, whose schemas are rendered once. */
export function describeOperators(): OperatorSchema[] {
  catalog ??= operators.map(describe)
  return catalog
}

function describe(found: Operator): OperatorSchema {
  return { ...summarize(found), compose: renderSchema(found.params), runtime: renderSchema(runConf) }
}

function summarize({ name, summary, inputs, makes_dataset }: Operator) {
  return { name, summary, inputs: { ...inputs }, makes_dataset }
}
