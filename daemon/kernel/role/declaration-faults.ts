// Finds mistakes in the declaration of a role that would otherwise show at a request, or never.
import * as z from 'zod'
import { hasToolFields, toolOperations } from '../api/mcp-tools.ts'
import { job_indexes } from '../job/job-fields.ts'
import { jobLeases } from '../job/lease.ts'
import { controlKinds } from '../messaging/message-kind.ts'
import { type AddressedOperation, type AnyOperation, listPaths, pathParameters } from '../operation/operation.ts'
import { listSecretFields } from '../secret/secret-fields.ts'
import { dataKeys } from '../secret/stored-data-key.ts'
import { listenerFields } from '../settings/listener-settings.ts'
import { addressOperations, type Role } from './role.ts'

/** Each mistake with what would be right; empty for a sound declaration. */
export function findDeclarationFaults(role: Role): string[] {
  const operations = addressOperations(role)
  return [
    ...findSettingFaults(role, operations),
    ...operations.flatMap(findOperationFaults),
    ...findRepeated(
      'collections named',
      role.collections.map(({ name }) => name),
    ),
    ...findJobFaults(role),
    ...findSecretFaults(role),
    ...findMessageFaults(role, operations),
    ...findResourceFaults(role, operations),
  ]
}

/** Boot reads the listeners of a role from the section that has its name. */
function findSettingFaults(role: Role, operations: readonly AddressedOperation[]): string[] {
  const { name, settings } = role
  const { shape = {} } = settings.find((block) => block.name === name) ?? {}
  const hasTools = toolOperations('agentspace', operations).length > 0
  return [
    ...findListenerFaults(role, Object.keys(shape)),
    ...(hasTools && !hasToolFields(role) ? [`it has tools: its section "${name}" needs toolFields`] : []),
  ]
}

/** Carriers between sites are set in sections of their own: they listen for peers alone, always over mutual TLS. */
function findListenerFaults({ name, listeners, settings, owns_site_files }: Role, fields: readonly string[]): string[] {
  const prefixes = listeners.map(({ prefix }) => prefix)
  const others = settings.filter((block) => block.name !== name && !owns_site_files)
  const addressesOf = (names: readonly string[]) => names.filter((field) => /(^|_)listen$/.test(field))
  return [
    ...findRepeated(
      'listeners with the prefix',
      prefixes.map((prefix) => JSON.stringify(prefix)),
    ),
    ...findRepeated(
      'listeners with the variables',
      listeners.map(({ env }) => `${env}_`),
    ),
    ...prefixes
      .filter((prefix) => !/^([a-z][a-z0-9]*_)*$/.test(prefix))
      .map((prefix) => `the prefix "${prefix}" of a listener is not lower-case words, each with an underscore`),
    ...listeners
      .flatMap((listener) => Object.keys(listenerFields(listener)))
      .filter((field) => !fields.includes(field))
      .map((field) => `its section "${name}" lacks ${field} of a listener: spread in its fields`),
    ...addressesOf(fields)
      .filter((field) => field !== 'metrics_listen' && !prefixes.includes(field.slice(0, -'listen'.length)))
      .map((field) => `${name}.${field} is of no listener that its outline declares`),
    ...others.flatMap((block) =>
      addressesOf(Object.keys(block.shape)).map(
        (field) => `${block.name}.${field} is of no listener: declare it in section "${name}"`,
      ),
    ),
  ]
}

function findOperationFaults({ address, operation }: AddressedOperation): string[] {
  const { input, consumes } = operation
  // A form follows another standard, by which unknown fields are ignored.
  const isParsedStrictly = consumes !== undefined || isStrict(input)
  return [
    ...listPaths(operation).flatMap((path) => findPathFaults(path, input)),
    ...(isParsedStrictly ? [] : ['its input must be a strict object: other fields would be dropped in silence']),
  ].map((fault) => `${address}: ${fault}`)
}

function findPathFaults(path: string, input: z.ZodObject): string[] {
  const names = pathParameters(path)
  const rest = names.reduce((text, name) => text.replace(`{${name}}`, ''), path)
  return [
    ...(/[{}]/.test(rest) ? [`a parameter of ${path} is not lower-case letters and underscores`] : []),
    ...names.filter((name) => !Object.hasOwn(input.shape, name)).map((name) => `{${name}} is not a field of its input`),
  ]
}

function isStrict({ def: { catchall } }: z.ZodObject): boolean {
  return catchall instanceof z.ZodNever
}

function findRepeated(what: string, names: readonly string[]): string[] {
  return [...new Set(names.filter((name, at) => names.indexOf(name) !== at))].map((name) => `two ${what} ${name}`)
}

function findJobFaults({ jobs = [], collections }: Role): string[] {
  if (jobs.length === 0) return []
  return [
    ...findRepeated(
      'kinds of jobs named',
      jobs.map(({ name }) => name),
    ),
    ...(collections.includes(jobLeases) ? [] : ['it has jobs: its collections need jobLeases']),
    ...jobs.flatMap(({ name, collection, serial_by }) => [
      ...(collections.includes(collection) ? [] : [`the collection of the job ${name} is not among its collections`]),
      // Stores always index the tenant.
      ...[...job_indexes, serial_by ?? 'tenant_id']
        .filter((index) => index !== 'tenant_id' && !collection.indexes.includes(index))
        .map((index) => `the collection of the job ${name} needs the index ${index}`),
    ]),
  ]
}

function findSecretFaults({ collections }: Role): string[] {
  const hasSecrets = collections.some((each) => listSecretFields(each).length > 0)
  return hasSecrets && !collections.includes(dataKeys) ? ['it stores secrets: its collections need dataKeys'] : []
}

/** Boot delivers to the operation by the list of operations, and the schema of messages comes from `message`. */
function findMessageFaults({ messages }: Role, operations: readonly AddressedOperation[]): string[] {
  return Object.entries(messages).flatMap(([kind, operation]: [string, AnyOperation]) => {
    const isOwn = operations.some((each) => each.operation === operation)
    const isDescribed = operation.message?.kind === kind || Object.hasOwn(controlKinds, kind)
    return [
      ...(isOwn ? [] : [`the operation that takes "${kind}" is not among its operations`]),
      ...(isDescribed ? [] : [`the operation that takes "${kind}" must be a federationOperation of this kind`]),
    ]
  })
}

function findResourceFaults({ resources = [] }: Role, operations: readonly AddressedOperation[]): string[] {
  const faults = resources.flatMap(({ uri, operation, fields = {} }) => [
    ...(operation.method === 'GET' ? [] : [`the operation behind ${uri} must be a GET`]),
    ...pathParameters(uri)
      .filter((name) => !Object.hasOwn(operation.input.shape, fields[name] ?? name))
      .map((name) => `{${name}} of ${uri} is not a field of the input of its operation`),
  ])
  const unreachable = operations
    .filter(({ operation: { path, tool } }) => path === undefined && tool === undefined)
    .filter(({ operation }) => !resources.some((each) => each.operation === operation))
  return [...faults, ...unreachable.map(({ address }) => `${address} has neither a path, nor a tool, nor a resource`)]
}
