// Converts a saved Splink model to a lens.
import { basename, extname } from 'node:path'
import { parseJson } from '../../../kernel/encoding/parse-json.ts'
import { formatFieldErrors, parseWithSchema } from '../../../kernel/error/parsing.ts'
import { lens as schema } from '../../../roles/resolution/lens/model.ts'
import {
  importSplinkModel as convertSplinkModel,
  type ImportedLens,
  splinkModel,
} from '../../../roles/resolution/lens/splink.ts'
import { OfflineCommandError } from '../../offline-command-error.ts'
import { readInputFile } from '../../read-input-file.ts'

const max_model_bytes = 16_777_216

export type SplinkImport = {
  readonly yaml: string
  readonly fields: number
  readonly rules: number
  readonly remarks: readonly string[]
}

/** Converts the model. Throws `OfflineCommandError` (1) if the file cannot be read, is not a model, or has no usable field. */
export function importSplinkModel(file: string): SplinkImport {
  const parsed = parseWithSchema(splinkModel, readModelJson(file))
  if (!parsed.success)
    throw new OfflineCommandError(1, `${file} is not a saved Splink model: ${formatFieldErrors(parsed.errors)}`)
  const name = basename(file, extname(file))
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+|-+$/g, '')
  const imported = convertSplinkModel(parsed.data, name === '' ? 'imported' : name.slice(0, 64))
  if (imported.document.fields.length === 0) {
    throw new OfflineCommandError(
      1,
      `${file} has no field that a lens can express`,
      '`platform resolve lens init --data FILE` proposes a lens from a data file',
      imported.remarks,
    )
  }
  const lens = parseWithSchema(schema, imported.document)
  if (!lens.success)
    throw new OfflineCommandError(1, `${file} converts to an invalid lens: ${formatFieldErrors(lens.errors)}`)
  const { blocking, fields } = lens.data
  const rules = blocking === 'automatic' ? 0 : blocking.length
  return { yaml: formatLensYaml(file, imported), fields: fields.length, rules, remarks: imported.remarks }
}

function readModelJson(file: string): unknown {
  const value = parseJson(readInputFile(file, max_model_bytes))
  if (value === undefined) throw new OfflineCommandError(1, `${file} is not JSON`)
  return value
}

/** The lens as YAML, with each value as JSON on one line. */
function formatLensYaml(file: string, { document, remarks }: ImportedLens): string {
  const { fields, ...head } = document
  return [
    `# From the Splink model ${JSON.stringify(basename(file))}; its parameters are unchanged.`,
    ...remarks.map((remark) => `# ${JSON.stringify(remark).slice(1, -1)}`),
    ...Object.entries(head).map(([key, value]) => `${key}: ${JSON.stringify(value)}`),
    'fields:',
    ...fields.flatMap((field) =>
      Object.entries(field).map(([key, value], at) => `${at === 0 ? '  - ' : '    '}${key}: ${JSON.stringify(value)}`),
    ),
    '',
  ].join('\n')
}
