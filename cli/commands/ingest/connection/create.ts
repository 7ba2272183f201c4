// Creates a connection, with its secret from a private file or stdin.
import * as z from 'zod'
import { readJsonFile } from '../../../file/json-file.ts'
import { classificationOptions, resolveOptionalClassification } from '../../../options/classification.ts'
import { readSecretOption, secretFile } from '../../../options/secret-option.ts'
import { connectService, serviceOptions } from '../../../options/service-options.ts'
import { CommandFailure, command } from '../../../program/command.ts'
import { required, text } from '../../../program/params.ts'
import { colourText, formatFields, printResult } from '../../../terminal/output.ts'

const createdConnection = z.looseObject({
  ...{ uid: z.string(), name: z.string(), conn_type: z.string(), has_secret: z.boolean() },
  test: z.looseObject({ ok: z.boolean(), detail: z.string() }),
})

export const definition = command({
  words: 'ingest connection create',
  summary: 'Create a connection to a source, and test it',
  notes: [
    'FILE holds the fields of the template of the type as a JSON object, without its secrets. The secret fields are a JSON',
    'object of their own, such as {"password": "..."}. Exit code 5 if the connection is stored and its test fails.',
  ].join('\n'),
  options: {
    type: required(text('TYPE', 'Type of the connection, such as sqlite')),
    name: required(text('NAME', 'Name of the connection')),
    config: required(text('FILE', 'JSON file with the fields of the connection')),
    secretFile: secretFile('Secret fields as a JSON object (default: none)'),
    ...classificationOptions,
    ...serviceOptions,
  },
  example: 'platform ingest connection create --type sqlite --name ledger --config ledger.json',
  async run({ type: conn_type, name, config, secretFile: file, ...params }, terminal) {
    const secret = await readSecretOption(file, 'secret', terminal)
    const api = await connectService(params, terminal)
    const input = {
      ...{ conn_type, name, config: readConfigFile(config) },
      ...(secret === undefined ? {} : { secret }),
      classification: await resolveOptionalClassification(params, terminal),
    }
    const created = createdConnection.parse(await api.call('ingest.connection.create', input))
    printResult(terminal, params.json, created, () => {
      const { uid, has_secret, test } = created
      const works = colourText(terminal, test.ok ? 'green' : 'red', test.ok ? 'yes' : 'no')
      return formatFields(terminal, {
        uid,
        name,
        type: conn_type,
        secret: has_secret ? 'set' : 'none',
        works,
        detail: test.detail,
      })
    })
    return created.test.ok ? 0 : 5
  },
})

function readConfigFile(file: string): Record<string, unknown> {
  try {
    return z.record(z.string(), z.unknown()).parse(readJsonFile(file))
  } catch {
    throw new CommandFailure(2, `--config: could not read ${file} as a JSON object`)
  }
}
