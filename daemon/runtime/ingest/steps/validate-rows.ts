// Performs `validate`: counts the rows for which each rule fails, and leaves them out or ends the task where the rule says so.
import type * as z from 'zod'
import { leaveOutRows, readText } from '../../../kernel/data/check-values.ts'
import type { DataBlock } from '../../../kernel/data/data-block.ts'
import { quoteName } from '../../../roles/ingest/operator/column-set.ts'
import type { ValidationRule, validate } from '../../../roles/ingest/operator/validate.ts'
import { LandingError } from '../landing/landing-error.ts'
import { compileCondition } from './row-condition.ts'
import type { Transform } from './transform.ts'

const max_shown_characters = 40
const max_shown_columns = 8

export const validateRows: Transform<z.output<typeof validate.params>> = async function* (step) {
  const { inputs, params } = step
  for (const input of inputs) {
    const rules = params.rules.map((rule) => ({ rule, holds: compileCondition(rule.where, input.columns), failed: 0 }))
    for await (const block of input.blocks()) {
      const left = new Set<number>()
      for (let row = 0; row < block.rows; row++)
        for (const tested of rules) {
          if (tested.holds(block, row)) continue
          tested.failed++
          const { name, on_failure } = tested.rule
          if (on_failure === 'end') throw new LandingError(describeEnd(tested.rule, block, row))
          if (on_failure === 'count' || left.has(row)) continue
          left.add(row)
          step.reject({ reason: `the rule ${JSON.stringify(name)} does not hold` }, block, row)
        }
      yield left.size === 0 ? block : leaveOutRows(block, left)
    }
    for (const { rule, failed } of rules)
      step.addCheck({ rule: rule.name, on_failure: rule.on_failure, rows: input.summary.rows, failed })
  }
}

function describeEnd({ name, where }: ValidationRule, block: DataBlock, row: number): string {
  const used = new Set(listColumns(where))
  const shown = block.columns
    .filter((column) => used.has(column.name))
    .slice(0, max_shown_columns)
    .map(
      (column) =>
        `${quoteName(column.name)} ${JSON.stringify(readText(column, row)?.slice(0, max_shown_characters) ?? null)}`,
    )
  return `the rule ${JSON.stringify(name)} ends the task: it does not hold for row ${block.lines?.[row]}, ${shown.join(', ')}`
}

function listColumns({ column, other_column, all = [], any = [], not }: ValidationRule['where']): string[] {
  const own = [column, other_column].filter((each) => each !== undefined)
  return [...own, ...[...all, ...any, ...(not ? [not] : [])].flatMap(listColumns)]
}
