// Declares settings with schema, default, environment variable and description, and resolves each with its origin.
import * as z from 'zod'
import { parseJson } from '../encoding/parse-json.ts'
import { nearestWord } from '../error/nearest-word.ts'
import { parseWithSchema } from '../error/parsing.ts'

export type SettingMeta = {
  readonly doc: string
  /** Environment variables, the documented one first. */
  readonly env?: string | readonly string[]
  readonly secret?: boolean
  /** Group and name by which the interface documents know it, such as `mcp.enabled`: a profile may nest it so. */
  readonly nested?: `${string}.${string}`
}

export type SettingsShape = Readonly<Record<string, z.ZodType>>

/** One section of the profile. */
export type SettingsBlock<S extends SettingsShape = SettingsShape> = {
  readonly name: string
  readonly shape: S
  readonly schema: z.ZodObject<S>
}

/** Declares a section. Each field is described in `.meta({ doc })`, with `env` and `secret` where they apply. */
export function settingsBlock<const S extends SettingsShape>(name: string, shape: S): SettingsBlock<S> {
  return { name, shape, schema: z.strictObject(shape) as unknown as z.ZodObject<S> }
}

export type SettingValues<B extends SettingsBlock> =
  B extends SettingsBlock<infer S> ? { [K in keyof S]: z.output<S[K]> } : never

export function metaOf(field: z.ZodType): SettingMeta {
  let current: z.ZodType | undefined = field
  while (current) {
    const meta = current.meta() as SettingMeta | undefined
    if (meta?.doc) return meta
    current = (current as { _zod?: { def?: { innerType?: z.ZodType } } })._zod?.def?.innerType
  }
  return { doc: '' }
}

export function envNames(meta: SettingMeta): readonly string[] {
  if (meta.env === undefined) return []
  return typeof meta.env === 'string' ? [meta.env] : meta.env
}

export type SettingOrigin = 'default' | 'profile' | `environment ${string}` | 'flag'

export type ExplainedSetting = {
  setting: string
  value: unknown
  origin: SettingOrigin
  doc: string
  env: readonly string[]
  secret: boolean
}

export type SettingSources = {
  /** The parsed profile file: section to fields. */
  readonly profile: Readonly<Record<string, unknown>>
  readonly env: Readonly<Record<string, string | undefined>>
  /** `section.field` to value, from the command line. */
  readonly flags: Readonly<Record<string, unknown>>
  /** The absolute form of a path in a setting: relative ones begin at the folder of the profile. */
  readonly resolvePath: (path: string) => string
  /** Reads the file behind NAME_FILE; throws an Error with the reason, which does not name the file. */
  readonly readSecret: (path: string) => string
  /** Whether the secrets of a section are needed, judged by the values resolved so far; other secrets are not read. */
  readonly needsSecrets: (section: string, values: ResolvedSettings['values']) => boolean
}

export type ResolvedSettings = {
  readonly values: ReadonlyMap<string, Readonly<Record<string, unknown>>>
  readonly explained: readonly ExplainedSetting[]
  readonly problems: readonly { readonly path: string; readonly message: string }[]
}

/** Default < profile < environment < flag. Reports all problems at once, so that one edit can repair a profile. */
export function resolveSettings(blocks: readonly SettingsBlock[], sources: SettingSources): ResolvedSettings {
  const problems: { path: string; message: string }[] = unknownSections(blocks, sources.profile)
  const values = new Map<string, Readonly<Record<string, unknown>>>()
  const explained: ExplainedSetting[] = []
  for (const section of blocks) {
    const isNeeded = sources.needsSecrets(section.name, values)
    const { raw, origins, unread } = gatherSection(section, sources, isNeeded, problems)
    const parsed = parseWithSchema(section.schema, raw, { isSeldom: true })
    const faults = parsed.success ? [] : parsed.errors.filter(({ path }) => !unread.has(path))
    if (parsed.success) values.set(section.name, parsed.data)
    problems.push(...faults.map(({ path, message }) => ({ path: settingPath(section, path), message })))
    for (const [field, schema] of Object.entries(section.shape)) {
      const meta = metaOf(schema)
      const value = parsed.success ? (parsed.data as Record<string, unknown>)[field] : raw[field]
      explained.push({
        setting: `${section.name}.${field}`,
        value: meta.secret && value !== undefined ? '[redacted]' : value,
        origin: origins.get(field) ?? 'default',
        doc: meta.doc,
        env: envNames(meta),
        secret: meta.secret ?? false,
      })
    }
  }
  return { values, explained, problems }
}

type SettingProblems = { path: string; message: string }[]

/** `unread`: fields whose secret only another process reads. */
function gatherSection(section: SettingsBlock, sources: SettingSources, isNeeded: boolean, problems: SettingProblems) {
  const declared = sources.profile[section.name]
  const raw = readNestedFields(section, isRecord(declared) ? declared : {}, problems)
  if (declared !== undefined && declared !== null && !isRecord(declared)) {
    problems.push({ path: section.name, message: 'must be a mapping' })
  }
  const origins = new Map<string, SettingOrigin>(Object.keys(raw).map((field) => [field, 'profile']))
  const unread = new Set<string>()
  for (const [field, schema] of Object.entries(section.shape)) {
    const variable = readEnvironment(metaOf(schema), sources, isNeeded, problems, `${section.name}.${field}`)
    if (variable) origins.set(field, `environment ${variable.name}`)
    if (variable?.text !== undefined) {
      raw[field] = coerceText(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }), variable.text)
    } else if (variable) unread.add(field)
    const flag = sources.flags[`${section.name}.${field}`]
    if (flag !== undefined) {
      raw[field] = flag
      origins.set(field, 'flag')
    }
  }
  return { raw: resolvePaths(raw, sources.resolvePath) as Record<string, unknown>, origins, unread }
}

/** The declared fields under their own names. Whatever else a group holds stays there, and is unknown. */
function readNestedFields(
  { name, shape }: SettingsBlock,
  declared: Record<string, unknown>,
  problems: SettingProblems,
) {
  const raw = { ...declared }
  for (const [field, schema] of Object.entries(shape)) {
    const { nested = '' } = metaOf(schema)
    const [group = '', member = ''] = nested.split('.')
    const content = raw[group]
    if (!isRecord(content) || !Object.hasOwn(content, member)) continue
    if (field in raw)
      problems.push({ path: `${name}.${nested}`, message: `is also set as ${field}: remove one of them` })
    const { [member]: value, ...others } = content
    raw[field] = value
    if (Object.keys(others).length > 0) raw[group] = others
    else delete raw[group]
  }
  return raw
}

/** Fields that hold the path of a file or folder, and lists of such paths. A field `file` names a data file of a tenant. */
const pathField = /_(files?|dir|folder)$/

/** One rule for every path of a profile, whatever process reads it and wherever that was started. */
function resolvePaths(value: unknown, resolvePath: SettingSources['resolvePath']): unknown {
  if (Array.isArray(value)) return value.map((each) => resolvePaths(each, resolvePath))
  if (!isRecord(value)) return value
  const resolveText = (each: unknown) => (typeof each === 'string' && each !== '' ? resolvePath(each) : each)
  const resolveField = (field: string, content: unknown): unknown => {
    if (!isPathField(field, content, value)) return resolvePaths(content, resolvePath)
    return Array.isArray(content) ? content.map(resolveText) : resolveText(content)
  }
  return Object.fromEntries(Object.entries(value).map(([field, content]) => [field, resolveField(field, content)]))
}

/** `verify` is true, false, or a file of authorities; a source of kind folder has a `path`. */
function isPathField(field: string, content: unknown, siblings: Readonly<Record<string, unknown>>): boolean {
  if (field === 'verify') return typeof content === 'string'
  return pathField.test(field) || (field === 'path' && siblings.kind === 'folder')
}

function readEnvironment(
  meta: SettingMeta,
  sources: SettingSources,
  isNeeded: boolean,
  problems: SettingProblems,
  path: string,
): { name: string; text: string | undefined } | undefined {
  for (const name of envNames(meta)) {
    const text = sources.env[name]
    if (text !== undefined && text !== '') return { name, text }
    const file = meta.secret ? sources.env[`${name}_FILE`] : undefined
    if (!file) continue
    if (!isNeeded) return { name: `${name}_FILE`, text: undefined }
    try {
      return { name: `${name}_FILE`, text: sources.readSecret(sources.resolvePath(file)).trim() }
    } catch (error) {
      problems.push({ path, message: `the file named by ${name}_FILE ${(error as Error).message}` })
    }
  }
  return undefined
}

function unknownSections(blocks: readonly SettingsBlock[], profile: Readonly<Record<string, unknown>>) {
  const known = blocks.map((section) => section.name)
  return Object.keys(profile)
    .filter((name) => !known.includes(name))
    .map((name) => ({ path: name, message: `unknown section; did you mean "${nearestWord(name, known)}"?` }))
}

function settingPath({ name }: SettingsBlock, path: string): string {
  return path === '' ? name : `${name}.${path}`
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Converts text of an environment variable or a query to the JSON type of the schema; returns the text when it does
 * not fit.
 */
export function coerceText(schema: unknown, text: string): unknown {
  const types = jsonTypesOf(schema)
  if ((types.has('integer') || types.has('number')) && /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text)) return Number(text)
  if (types.has('boolean') && (text === 'true' || text === 'false')) return text === 'true'
  if (types.has('array') && !types.has('string')) return text === '' ? [] : text.split(',').map((part) => part.trim())
  if (types.has('object') && !types.has('string')) {
    const value = parseJson(text)
    if (value !== undefined) return value
  }
  return text
}

function jsonTypesOf(schema: unknown): Set<string> {
  if (!isRecord(schema)) return new Set()
  const types = Array.isArray(schema.type) ? schema.type : [schema.type]
  const nested = [schema.anyOf, schema.oneOf, schema.allOf].flatMap((list) => (Array.isArray(list) ? list : []))
  return new Set([
    ...types.filter((type) => typeof type === 'string'),
    ...nested.flatMap((part) => [...jsonTypesOf(part)]),
  ])
}
