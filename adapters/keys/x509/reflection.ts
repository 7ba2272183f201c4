// The part of `Reflect` that the certificate library's container asks for while it is loaded; imported before the library.

type Notes = Map<unknown, unknown>
type Reflection = {
  getMetadata?(key: unknown, target: object): unknown
  getOwnMetadata?(key: unknown, target: object): unknown
  defineMetadata?(key: unknown, value: unknown, target: object): void
}

const notes = new WeakMap<object, Notes>()
const reflection = Reflect as Reflection

reflection.getOwnMetadata ??= (key, target) => notes.get(target)?.get(key)
reflection.getMetadata ??= (key, target) => {
  for (let at: object | null = target; at; at = Object.getPrototypeOf(at)) {
    const found = notes.get(at)
    if (found?.has(key)) return found.get(key)
  }
  return undefined
}
reflection.defineMetadata ??= (key, value, target) => {
  const known: Notes = notes.get(target) ?? new Map()
  notes.set(target, known.set(key, value))
}
