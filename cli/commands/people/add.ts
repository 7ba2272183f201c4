// Enrols a person by the public half of their own key, once the fingerprint has been compared.
import { offline } from '../../../daemon/boot/offline.ts'
import { command, Failure } from '../../command.ts'
import { confirmedKeys } from '../../confirmed-keys.ts'
import { readInputFile } from '../../input-file.ts'
import { show } from '../../output.ts'
import { names, needed, text } from '../../params.ts'
import { personText } from '../../person-text.ts'
import { jsonOption, requireSite, siteOption } from '../../site.ts'

export const definition = command({
  words: 'people add',
  summary: 'enrol a person’s own key, to sign releases from quarantine with',
  notes: [
    'The person makes the key on their own medium: `platform keys generate --use personal --dir DIR`, then',
    '`platform keys export --dir DIR --out FILE`, and tells the fingerprint by another way than the file.',
  ].join('\n'),
  takes: {
    subject: needed(text('SUBJECT', 'the subject of the person’s tokens')),
    file: needed(text('FILE', 'the person’s public key, as `platform keys export --dir` made it')),
  },
  options: {
    fingerprint: names('FP', 'the fingerprint, compared already'),
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform people add ann ann-key.json',
  async run({ subject, file, fingerprint, ...given }, terminal) {
    const folder = requireSite(given, terminal)
    const people = await offline.people()
    const found = people.personalKeys(readInputFile(file))
    const keys = await confirmedKeys(terminal, {
      deed: `${subject} would be enrolled by`,
      teller: 'the person',
      use: 'personal',
      found,
      named: fingerprint,
    })
    const [key, another] = keys
    if (!key || another) throw new Failure(2, 'a person has one key', 'name the one with --fingerprint')
    const person = await people.add(folder, terminal.env, { subject, key, now: Date.now() })
    show(terminal, given.json, person, () => personText(terminal, person))
    return 0
  },
})
