// Creates a lens on the service: a shipped one by its name, any other from its file.
import { offline } from '../../../../daemon/offline/offline.ts'
import { classificationOptions, resolveOptionalClassification } from '../../../options/classification.ts'
import { connectService, serviceOptions } from '../../../options/service-options.ts'
import { command } from '../../../program/command.ts'
import { required, text } from '../../../program/params.ts'
import { formatFields, printResult } from '../../../terminal/output.ts'

export const definition = command({
  words: 'resolve lens create',
  summary: 'Create a lens on the service',
  notes: [
    'A version of a lens never changes once created. Its label is joined to that of everything computed with it: what',
    'is to reach a peer needs a lens that is releasable to the peer.',
  ].join('\n'),
  positionals: { lens: required(text('LENS', 'Lens file, or a shipped lens: persons, bibliography, products')) },
  options: { ...classificationOptions, ...serviceOptions },
  example: 'platform resolve lens create persons',
  async run(params, terminal) {
    const { readLens } = await offline.lenses()
    const api = await connectService(params, terminal)
    const classification = await resolveOptionalClassification(params, terminal)
    const created = await api.call('resolution.lens.create', { body: readLens(params.lens), classification })
    const { uid, lens, lens_version, entity_type } = created
    printResult(terminal, params.json, created, () => formatFields(terminal, { uid, lens, lens_version, entity_type }))
    return 0
  },
})
