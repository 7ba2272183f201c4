// Enrols a person by the public half of their own key, once the fingerprint has been compared.
import { offline } from '../../../daemon/offline/offline.ts'
import { confirmKeys } from '../../confirmation/confirm-keys.ts'
import { readInputFile } from '../../file/input-file.ts'
import { formatPerson } from '../../format/person.ts'
import { jsonOption, requireOwnSite, siteOption } from '../../options/site-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { nameList, required, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'people add',
  summary: 'Enrol a person’s key for signing releases from quarantine',
  notes: [
    'The person makes the key on their own medium with `platform keys generate --use personal --dir DIR`, exports',
    'it with `platform keys export --dir DIR --out FILE`, and reads the fingerprint aloud, from `platform keys',
    'speak --dir DIR`.',
  ].join('\n'),
  positionals: {
    subject: required(text('SUBJECT', 'Subject of the person’s tokens')),
    file: required(text('FILE', 'Public key of the person, from `platform keys export --dir`')),
  },
  options: {
    spoken: text('DIGITS', 'Fingerprint that the person read aloud, from `platform keys speak --dir`'),
    fingerprint: nameList('FP', 'Fingerprint that was compared already; it may begin with "-"'),
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform people add ann ann-key.json',
  async run({ subject, file, fingerprint, spoken, ...params }, terminal) {
    const keysText = readInputFile(file)
    const folder = requireOwnSite(params, terminal)
    const people = await offline.people()
    const foundKeys = people.parsePersonalKeys(keysText)
    const keys = await confirmKeys(terminal, {
      heading: `${subject} would be enrolled with this key`,
      fingerprintSource: 'the person',
      use: 'personal',
      foundKeys,
      comparedFingerprints: fingerprint,
      spoken: {
        groups: people.speakPersonalKeys(foundKeys),
        typed: spoken,
        command: 'platform keys speak --dir DIR',
      },
    })
    const [key, extraKey] = keys
    if (!key || extraKey)
      throw new CommandFailure(
        2,
        `a person has exactly one key; ${keys.length} were confirmed`,
        'name one with --fingerprint',
      )
    const person = await people.enrolPerson(folder, terminal.env, { subject, key, now: Date.now() })
    printResult(terminal, params.json, person, () => formatPerson(terminal, person))
    return 0
  },
})
