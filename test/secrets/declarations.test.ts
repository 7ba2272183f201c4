// Walks every declaration of every role: a secret is written and never shown, and nothing with the name of one is anything else.
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import type { Param } from '../../cli/program/command.ts'
import { commandCatalogue } from '../../cli/program/command-catalogue.ts'
import { listSettingsBlocks } from '../../daemon/boot/profile.ts'
import { everyOperation, everyRole } from '../../daemon/every-role.ts'
import { type AddressedOperation, hasBody, operation, pathParameters } from '../../daemon/kernel/operation/operation.ts'
import { isSecretName } from '../../daemon/kernel/secret/redact-text.ts'
import { sealedSecret } from '../../daemon/kernel/secret/sealed-secret.ts'
import { listSecretFields } from '../../daemon/kernel/secret/secret-fields.ts'
import { secretText } from '../../daemon/kernel/secret/secret-text.ts'
import { dataKeys } from '../../daemon/kernel/secret/stored-data-key.ts'
import { metaOf } from '../../daemon/kernel/settings/settings.ts'
import { expectNone } from '../support/repository/expect-none.ts'

type JsonSchema = Readonly<Record<string, unknown>>
type SchemaField = { readonly path: string; readonly name: string; readonly schema: JsonSchema }

/** Every property at any depth of the JSON Schema of a declaration. */
function listFields(schema: z.ZodType, io: 'input' | 'output'): SchemaField[] {
  return walk(z.toJSONSchema(schema, { io, unrepresentable: 'any', reused: 'inline', cycles: 'ref' }), '')
}

function walk(node: unknown, path: string): SchemaField[] {
  if (Array.isArray(node)) return node.flatMap((item) => walk(item, path))
  if (typeof node !== 'object' || node === null) return []
  return Object.entries(node).flatMap(([key, value]) =>
    key === 'properties' || key === '$defs'
      ? Object.entries(value as Record<string, JsonSchema>).flatMap(([name, schema]) => [
          ...(key === 'properties' ? [{ path: `${path}.${name}`, name, schema }] : []),
          ...walk(schema, `${path}.${name}`),
        ])
      : walk(value, path),
  )
}

/** The log also redacts `d` and `k`, members of a private key; here these letters are numbers. */
const isNamedAsSecret = (name: string) => name.length > 1 && isSecretName(name)

const isSealed = ({ schema }: SchemaField) =>
  [schema, ...((schema.anyOf ?? []) as JsonSchema[])].some(
    (each) => Object.keys((each.properties ?? {}) as object).join() === Object.keys(sealedSecret.shape).join(),
  )

const collections = everyRole.flatMap((role) =>
  role.collections.map((collection) => ({ role, collection, address: `${role.name}.${collection.name}` })),
)
const operations = everyOperation.map((target) => [target.address, target] as const)

describe('collections', () => {
  test('a role with secret fields stores their data keys', () => {
    const holders = everyRole.filter(({ collections: own }) => own.some((each) => listSecretFields(each).length > 0))
    expect(holders.map(({ name }) => name)).toContain('resolution')
    expectNone(holders.filter(({ collections: own }) => !own.includes(dataKeys)).map(({ name }) => name))
  })

  test('a sealed secret is a top-level field, which housekeeping finds, and no index', () => {
    expectNone(
      collections.flatMap(({ collection, address }) => {
        const found = listFields(collection.schema, 'output').filter(isSealed)
        const known = listSecretFields(collection).map((name) => `.${name}`)
        const hidden = found.filter(({ path }) => !known.includes(path)).map(({ path }) => `${address}${path}`)
        const indexed = collection.indexes.filter((name) => listSecretFields(collection).includes(String(name)))
        return [...hidden, ...indexed.map((name) => `${address}.${String(name)} is an index`)]
      }),
    )
  })

  test('a stored field with the name of a secret is sealed', () => {
    expectNone(
      collections.flatMap(({ collection, address }) =>
        listFields(collection.schema, 'output')
          .filter((field) => isNamedAsSecret(field.name) && !isSealed(field))
          .map(({ path }) => `${address}${path}: declare it as sealedSecret`),
      ),
    )
  })
})

/** Operations whose answer is a token. */
const shownTokens: ReadonlySet<string> = new Set([
  'site.token.issue.TokenResponse.access_token',
  'site.delegation.token.DelegatedToken.token',
])

describe('operations', () => {
  test.each(operations)('%s takes secrets in its body, as fields that are written only', (address, { operation }) => {
    const fields = listFields(operation.input, 'input')
    const secrets = fields.filter(({ schema }) => schema.writeOnly === true)
    const inTheOpen = secrets.filter(
      ({ name }) => !hasBody(operation.method) || pathParameters(operation.path).includes(name),
    )
    expectNone(inTheOpen.map(({ path }) => `${address}${path} is in a path or a query, which logs and histories keep`))
    if (operation.tool !== undefined)
      expectNone(secrets.map(({ path }) => `${address}${path} is in a tool: the secret would pass through a model`))
    expectNone(
      fields
        .filter(({ name, schema }) => isNamedAsSecret(name) && schema.writeOnly !== true)
        .map(({ path }) => `${address}${path}: declare it by secretText()`),
    )
  })

  test.each(operations)('%s answers without a secret', (address, { operation }) => {
    expectNone(
      listFields(operation.output, 'output')
        // Whether a secret is set, as in `has_password`, holds none of it.
        .filter(({ schema }) => schema.type !== 'boolean')
        .filter((field) => field.schema.writeOnly === true || isSealed(field) || isNamedAsSecret(field.name))
        .map(({ path }) => `${address}${path}`)
        .filter((path) => !shownTokens.has(path)),
    )
  })

  test('the walk finds the secrets of today', () => {
    const found = everyOperation.flatMap(({ address, operation }) =>
      listFields(operation.input, 'input')
        .filter(({ schema }) => schema.writeOnly === true)
        .map(({ path }) => `${address}${path}`),
    )
    expect(found).toEqual([
      'site.token.issue.client_secret',
      'site.token.issue.subject_token',
      'site.token.issue.actor_token',
      'site.delegation.grant.subject_token',
      'site.delegation.grant.grant',
      'site.delegation.principal.subject_token',
      'site.delegation.principal.grant',
      'site.delegation.token.subject_token',
      'site.delegation.token.grant',
      'ingest.connection.create.secret',
      'ingest.connection.update.secret',
    ])
  })
})

describe('settings', () => {
  const fields = listSettingsBlocks(everyRole).flatMap(({ name, shape }) =>
    Object.entries(shape).map(([field, schema]) => ({ path: `${name}.${field}`, field, schema })),
  )

  test('one with the name of a secret is declared as one, so that it is redacted and read from a file', () => {
    expectNone(
      fields.filter(({ field, schema }) => isNamedAsSecret(field) && !metaOf(schema).secret).map(({ path }) => path),
    )
    expect(fields.filter(({ schema }) => metaOf(schema).secret).length).toBeGreaterThan(4)
  })

  test('none has a secret inside a list or an object, which is shown whole', () => {
    expectNone(
      fields.flatMap(({ path, schema }) =>
        listFields(schema, 'input')
          .filter(({ name }) => isNamedAsSecret(name))
          .map((inner) => `${path}${inner.path}: name a file instead`),
      ),
    )
  })
})

const definitions = () => Promise.all(Object.values(commandCatalogue).map(async (load) => (await load()).definition))

test('no command takes a secret as an argument, but the token whose help warns', async () => {
  const found = (await definitions()).flatMap(({ words, options = {}, positionals = {} }) =>
    Object.entries({ ...options, ...positionals })
      .filter(([name, param]) => isNamedAsSecret(name) && (param as Param<unknown>).metavar !== undefined)
      .map(([name]) => `${words}: ${name}`),
  )
  expectNone(found.filter((each) => !each.endsWith(': token')))
})

/** Fields of secrets in operations of people and clients, without those of the token endpoint, which is for programs. */
function listSecretInputs(targets: readonly AddressedOperation[]): { path: string; option: string }[] {
  return targets
    .filter(({ operation }) => operation.allow !== 'role' && operation.consumes === undefined)
    .flatMap(({ address, operation }) =>
      listFields(operation.input, 'input')
        .filter(({ schema }) => schema.writeOnly === true)
        .map(({ path, name }) => ({
          path: `${address}${path}`,
          option: `${name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())}File`,
        })),
    )
}

test('each secret of an operation can be given to a command as a file', async () => {
  const optionNames = new Set((await definitions()).flatMap(({ options = {} }) => Object.keys(options)))
  const withoutOption = (targets: readonly AddressedOperation[]) =>
    listSecretInputs(targets)
      .filter(({ option }) => !optionNames.has(option))
      .map(({ path, option }) => `${path}: no command has the option ${option}, see cli/options/secret-option.ts`)
  expectNone(withoutOption(everyOperation))
  const create = operation({
    ...{ summary: 'Create a connection', method: 'POST', path: '/connection', errors: [], allow: 'ingest:connect' },
    input: z.strictObject({ api_password: secretText(), token: secretText() }),
    output: z.strictObject({}),
    run: async () => ({}),
  })
  expect(withoutOption([{ address: 'ingest.connection.create', role: 'ingest', operation: create }])).toEqual([
    'ingest.connection.create.api_password: no command has the option apiPasswordFile, see cli/options/secret-option.ts',
  ])
})
