// Refuses stored values that an earlier release normalised in another form: they would silently differ from equal new values.
import { hasScriptRules } from '../../../roles/resolution/engine/text/normalise-scripts.ts'
import { text_form } from '../../../roles/resolution/engine/text/text-form.ts'
import { OfflineCommandError } from '../../offline-command-error.ts'
import type { RegistryContent, RegistryRecord } from './registry-content.ts'

/** Returns the content in the present form. Throws `OfflineCommandError` (3) if it has values that may differ in this form. */
export function checkTextForm(content: RegistryContent, file: string): RegistryContent {
  const { learnt, records } = content
  if (learnt.text_form === text_form) return content
  if ([...records.values()].some(hasOtherForm)) {
    throw new OfflineCommandError(
      3,
      `${file} was made with another normal form of texts, in which values of its scripts differ`,
      'run `platform resolve run --lens FILE --data FILE --out DIR --registry FILE --keep-records` again with the data files',
    )
  }
  return { ...content, learnt: { ...learnt, text_form } }
}

/** Whether a value has letters of which the forms differ; all other values are equal in any form. */
function hasOtherForm({ values }: RegistryRecord): boolean {
  return Object.values(values).some(hasScriptRules)
}
