// An unknown key is refused with its path and the nearest known one, wherever an operator or a client writes it: in each
// object, at any depth, of every section of a profile, every input of an operation, and a lens.
import { expect, test } from 'vitest'
import * as z from 'zod'
import { listSettingsBlocks } from '../daemon/boot/profile.ts'
import { everyOperation, everyRole } from '../daemon/every-role.ts'
import { parseWithSchema } from '../daemon/kernel/error/parsing.ts'
import { lens } from '../daemon/roles/resolution/lens/model.ts'
import { expectNone } from './support/repository/expect-none.ts'

/** An object somewhere in a schema: its path, and how a value of it is put into a value of the whole. */
type NestedObject = {
  readonly path: readonly string[]
  readonly fields: readonly string[]
  readonly isStrict: boolean
  readonly wrap: (value: Readonly<Record<string, unknown>>) => unknown
}

type Definition = z.core.$ZodTypeDef & {
  readonly shape?: Readonly<Record<string, z.core.$ZodType>>
  readonly catchall?: z.core.$ZodType
  readonly element?: z.core.$ZodType
  readonly valueType?: z.core.$ZodType
  readonly innerType?: z.core.$ZodType
  readonly in?: z.core.$ZodType
  readonly left?: z.core.$ZodType
  readonly right?: z.core.$ZodType
  readonly options?: readonly z.core.$ZodType[]
  readonly discriminator?: string
  readonly getter?: () => z.core.$ZodType
}

const definitionOf = (schema: z.core.$ZodType) => schema._zod.def as Definition

function listObjects(
  schema: z.core.$ZodType,
  path: readonly string[] = [],
  wrap: NestedObject['wrap'] = (value) => value,
  above: ReadonlySet<z.core.$ZodType> = new Set(),
): NestedObject[] {
  if (above.has(schema)) return []
  const seen = new Set([...above, schema])
  const {
    shape,
    catchall,
    element,
    valueType,
    innerType,
    in: input,
    left,
    right,
    options,
    discriminator,
    getter,
  } = definitionOf(schema)
  const inside = (
    child: z.core.$ZodType | undefined,
    name?: string,
    put: (value: unknown) => unknown = (value) => value,
  ) =>
    child
      ? listObjects(child, name === undefined ? path : [...path, name], (value) => wrapAny(wrap, put(value)), seen)
      : []
  if (shape) {
    const isStrict = catchall !== undefined && definitionOf(catchall).type === 'never'
    const nested = Object.entries(shape).flatMap(([name, child]) => inside(child, name, (value) => ({ [name]: value })))
    return [{ path, fields: Object.keys(shape), isStrict, wrap }, ...nested]
  }
  const alternatives = (options ?? []).flatMap((option) =>
    inside(option, undefined, (value) =>
      discriminator === undefined ? value : { ...discriminate(option, discriminator), ...(value as object) },
    ),
  )
  return [
    ...alternatives,
    ...inside(element, '0', (value) => [value]),
    ...inside(valueType, 'x', (value) => ({ x: value })),
    ...[innerType, input, left, right, getter?.()].flatMap((child) => inside(child)),
  ]
}

const wrapAny = (wrap: NestedObject['wrap'], value: unknown) => wrap(value as Readonly<Record<string, unknown>>)

function discriminate(option: z.core.$ZodType, discriminator: string): Record<string, unknown> {
  const field = definitionOf(option).shape?.[discriminator]
  return field ? { [discriminator]: [...(field._zod.values ?? [])][0] } : {}
}

/** OAuth lets clients send parameters that a server does not know (RFC 6749, section 3.2). */
const lenient = ['site.token.issue']

function findFaults(name: string, schema: z.ZodType): string[] {
  return listObjects(schema).flatMap(({ path, fields, isStrict, wrap }) => {
    const [nearest = ''] = fields
    const key = `${nearest}_x`
    const place = [...path, key].join('.')
    if (!isStrict) return [`${name} ${path.join('.')} takes unknown keys`]
    const parsed = parseWithSchema(schema, wrap({ [key]: 1 }))
    const message = nearest === '' ? 'unknown field' : `unknown field; did you mean "${nearest}"?`
    const isNamed = !parsed.success && parsed.errors.some((error) => error.path === place && error.message === message)
    return isNamed ? [] : [`${name} ${place}: ${JSON.stringify(parsed.success ? 'accepted' : parsed.errors)}`]
  })
}

test.each(listSettingsBlocks(everyRole).map((block) => [block.name, block] as const))(
  'in section %s',
  (name, block) => {
    expectNone(findFaults(name, z.strictObject(block.shape)))
  },
)

test('in the input of every operation', () => {
  const inputs = everyOperation.filter(({ address }) => !lenient.includes(address))
  expect(inputs.length).toBeGreaterThan(100)
  expectNone(inputs.flatMap(({ address, operation }) => findFaults(address, operation.input)))
})

test('in a lens', () => {
  expect(listObjects(lens).length).toBeGreaterThan(5)
  expectNone(findFaults('lens', lens))
})
