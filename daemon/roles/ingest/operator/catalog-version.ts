// The version of the catalog: it changes with each change of what an operator takes.
import { canonicalDigest } from '../../../kernel/encoding/canonical-json.ts'
import { renderSchema } from '../fields.ts'
import { operators } from './catalog.ts'

let version: string | undefined

/** SHA-256 of the definitions of all operators. */
export function catalogVersion(): string {
  version ??= canonicalDigest(
    operators.map(({ name, summary, inputs, makes_dataset, params }) => {
      return { name, summary, inputs, makes_dataset, params: renderSchema(params) }
    }),
  )
  return version
}
