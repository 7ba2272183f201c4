// Gives a lens to the service: a shipped one by its name, any other by its file.
import { offline } from '../../../../daemon/boot/offline.ts'
import { command } from '../../../command.ts'
import { fields, show } from '../../../output.ts'
import { needed, text } from '../../../params.ts'
import { service, serviceOptions } from '../../../service.ts'

export const definition = command({
  words: 'resolve lens create',
  summary: 'give a lens to the service; within a version it never changes',
  takes: { lens: needed(text('LENS', 'a file, or a shipped lens: persons, bibliography, products')) },
  options: serviceOptions,
  example: 'platform resolve lens create persons',
  async run(given, terminal) {
    const { readLens } = await offline.lenses()
    const api = await service(given, terminal)
    const made = await api.call('resolution.lens.create', { body: readLens(given.lens) })
    const { uid, lens, lens_version, entity_type } = made
    show(terminal, given.json, made, () => fields(terminal, { uid, lens, lens_version, entity_type }))
    return 0
  },
})
