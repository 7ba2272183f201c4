// Takes over what others have trained elsewhere.
import { offline } from '../../../../daemon/boot/offline.ts'
import { command } from '../../../command.ts'
import { fields, printable, show } from '../../../output.ts'
import { needed, text } from '../../../params.ts'
import { jsonOption } from '../../../site.ts'

export const definition = command({
  words: 'resolve lens import',
  summary: 'make a lens of a model that Splink saved',
  notes: [
    'Levels with m and u, the prior, term frequencies and blocking rules come over, as far as a lens has words for them; what',
    'it has none for is listed, here and in the lens, and never left out in silence.',
  ].join('\n'),
  takes: { model: needed(text('FILE', 'what `save_model_to_json` wrote')) },
  options: { out: text('FILE', 'a new file for the lens'), ...jsonOption },
  example: 'platform resolve lens import model.json --out people.yaml',
  async run({ model, out, json }, terminal) {
    const [{ importSplink }, { saveNew }] = await Promise.all([offline.lensImport(), offline.newFiles()])
    const { yaml, remarks, ...counts } = importSplink(model)
    if (out !== undefined) saveNew(out, yaml)
    show(terminal, json, out === undefined ? { ...counts, remarks, yaml } : { ...counts, remarks, file: out }, () => {
      if (out === undefined) return printable(yaml.trimEnd())
      return [fields(terminal, { ...counts, file: out }), ...remarks.map(printable)].join('\n')
    })
    return 0
  },
})
