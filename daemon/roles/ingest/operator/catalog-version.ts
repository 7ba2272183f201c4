// The catalog as a DAG repository has it, and its version, which changes with each change of what an operator takes.
import { canonicalDigest } from '../../../kernel/encoding/canonical-json.ts'
import { renderSchema } from '../fields.ts'
import { operators } from './catalog.ts'

let version: string | undefined

/** SHA-256 of the definitions of all operators. */
export function catalogVersion(): string {
  version ??= canonicalDigest(listDefinitions())
  return version
}

/** The file of the catalog: the definitions of all operators, and their version. */
export function renderCatalog(): string {
  return `${JSON.stringify({ format: 1, version: catalogVersion(), operators: listDefinitions() }, undefined, 2)}\n`
}

function listDefinitions() {
  return operators.map(({ name, summary, inputs, makes_dataset, params }) => {
    return { name, summary, inputs, makes_dataset, params: renderSchema(params) }
  })
}
