// Converts a model trained with another tool into a lens.
import { offline } from '../../../../daemon/offline/offline.ts'
import { jsonOption } from '../../../options/site-options.ts'
import { command } from '../../../program/command.ts'
import { required, text } from '../../../program/params.ts'
import { formatFields, keepLayout, line_break, printResult } from '../../../terminal/output.ts'

export const definition = command({
  words: 'resolve lens import',
  summary: 'Convert a saved Splink model into a lens',
  notes: [
    'Converts levels with m and u, the prior, term frequencies and blocking rules where a lens can express them.',
    'Everything else is listed, here and in the lens; nothing is dropped silently.',
  ].join('\n'),
  positionals: { model: required(text('FILE', 'File that Splink’s `save_model_to_json` wrote')) },
  options: { out: text('FILE', 'File to create for the lens (default: it is printed)'), ...jsonOption },
  example: 'platform resolve lens import model.json --out people.yaml',
  async run({ model, out, json }, terminal) {
    const [{ importSplinkModel }, { requireNewFile, writeNewFile }] = await Promise.all([
      offline.lensImport(),
      offline.newFiles(),
    ])
    if (out !== undefined) requireNewFile(out)
    const { yaml, remarks, ...counts } = importSplinkModel(model)
    if (out !== undefined) writeNewFile(out, yaml)
    printResult(
      terminal,
      json,
      out === undefined ? { ...counts, remarks, yaml } : { ...counts, remarks, file: out },
      () => {
        if (out === undefined) return keepLayout(yaml.trimEnd())
        return [formatFields(terminal, { ...counts, file: out }), ...remarks].join(line_break)
      },
    )
    return 0
  },
})
