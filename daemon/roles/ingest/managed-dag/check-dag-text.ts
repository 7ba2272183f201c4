// The check of an assembled DAG as text: by its schema, and by the catalog of operators. A fault has its line.
import { parseJson } from '../../../kernel/encoding/parse-json.ts'
import type { FieldError } from '../../../kernel/error/errors.ts'
import { parseWithSchema } from '../../../kernel/error/parsing.ts'
import { type AssembledDag, assembledDag } from '../../../shared/assembled-dag/assembled-dag.ts'
import { findJsonFlaw, findJsonLine } from '../../../shared/dag-repository/find-json-line.ts'
import { listDagFaults } from '../operator/catalog.ts'
import type { DeploymentFault } from './model.ts'

/** `listMore`: faults that only the object with the DAG has; they come first. */
export function checkDagText(
  text: string,
  listMore: (dag: AssembledDag) => readonly FieldError[] = () => [],
): { readonly dag: AssembledDag } | { readonly fault: DeploymentFault } {
  const value = parseJson(text)
  if (value === undefined) return { fault: describeFlaw(text) }
  const parsed = parseWithSchema(assembledDag, value)
  if (!parsed.success)
    return { fault: locateFault(text, parsed.errors[0] ?? { path: '', message: 'is not an assembled DAG' }) }
  const [fault] = [...listMore(parsed.data), ...listDagFaults(parsed.data)]
  return fault ? { fault: locateFault(text, fault) } : { dag: parsed.data }
}

function describeFlaw(text: string): DeploymentFault {
  const flaw = findJsonFlaw(text)
  return flaw ? { ...flaw, reason: `the content is not JSON: ${flaw.reason}` } : { reason: 'the content is not JSON' }
}

function locateFault(text: string, { path, message }: FieldError): DeploymentFault {
  const line = findJsonLine(text, path)
  return path === '' ? { reason: message, line } : { reason: message, path, line }
}
