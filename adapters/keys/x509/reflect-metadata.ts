// The part of `Reflect` that the certificate library's container needs while it is loaded; imported before the library.

type MetadataMap = Map<unknown, unknown>
type ReflectMetadata = {
  getMetadata?(key: unknown, target: object): unknown
  getOwnMetadata?(key: unknown, target: object): unknown
  defineMetadata?(key: unknown, value: unknown, target: object): void
}

const metadata = new WeakMap<object, MetadataMap>()
const reflect = Reflect as ReflectMetadata

reflect.getOwnMetadata ??= (key, target) => metadata.get(target)?.get(key)
reflect.getMetadata ??= (key, target) => {
  for (let at: object | null = target; at; at = Object.getPrototypeOf(at)) {
    const found = metadata.get(at)
    if (found?.has(key)) return found.get(key)
  }
  return undefined
}
reflect.defineMetadata ??= (key, value, target) => {
  const known: MetadataMap = metadata.get(target) ?? new Map()
  metadata.set(target, known.set(key, value))
}
