// Searches the records of a registry file by values of fields.
import { normaliseWanted, type WantedValues } from '../../../roles/resolution/engine/lookup/search-records.ts'
import type { Lens } from '../../../roles/resolution/lens/model.ts'
import { OfflineCommandError } from '../../offline-command-error.ts'
import { checkTextForm } from './check-text-form.ts'
import { readEntityRegistry } from './entity-registry.ts'
import { buildMemberKey, parseMemberKey } from './registry-content.ts'

type RegistryFileSearch = {
  readonly file: string
  readonly lens: Lens
  readonly where: WantedValues
  readonly limit: number
}

type FoundFileRecord = {
  readonly source: string
  readonly id: string
  readonly entity: string
  readonly size: number
  readonly values: Readonly<Record<string, string>>
}

/**
 * The first records in the order of sources and ids, and the number of all. Throws `OfflineCommandError`: 1 for a file that is not a
 * registry, 2 for a field or a value that the lens does not have, 3 for a registry without records, of another lens or of another
 * normal form of texts.
 */
export function searchRegistryFile({ file, lens, where, limit }: RegistryFileSearch): {
  readonly items: readonly FoundFileRecord[]
  readonly total: number
} {
  const conditions = Object.entries(where).map(([name, text]) => readCondition(lens, name, text))
  const { entities, content, bytes } = readEntityRegistry(file, lens.lens)
  if (!bytes) throw new OfflineCommandError(1, `the registry ${file} does not exist`)
  if (!content)
    throw new OfflineCommandError(
      3,
      `${file} contains no records`,
      '`platform resolve run --lens FILE --data FILE --out DIR --registry FILE --keep-records` keeps them',
    )
  const entityOf = new Map(
    entities.flatMap((entity) => entity.members.map((member) => [buildMemberKey(member), entity] as const)),
  )
  const found = [...checkTextForm(content, file).records]
    .filter(([, { values }]) => conditions.every((isMet) => isMet(values)))
    .sort(([left], [right]) => (left < right ? -1 : 1))
  const items = found.slice(0, limit).map(([key, { values }]): FoundFileRecord => {
    const [source, id] = parseMemberKey(key)
    const { entity = '', members = [] } = entityOf.get(key) ?? {}
    return { source, id, entity, size: members.length, values }
  })
  return { items, total: found.length }
}

function readCondition(lens: Lens, name: string, text: string) {
  const names = lens.fields.map((field) => field.name)
  if (!names.includes(name))
    throw new OfflineCommandError(2, `${name} is not a field of the lens, which has ${names.join(', ')}`)
  const { value, isPrefix } = normaliseWanted(lens, name, text)
  if (value === undefined)
    throw new OfflineCommandError(2, `${name} has no value in the normal form of the lens`, 'write it as the data does')
  return (values: Readonly<Record<string, string>>) =>
    isPrefix ? (values[name]?.startsWith(value) ?? false) : values[name] === value
}
