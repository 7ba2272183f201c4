// A confidentiality label as it is typed: a level, and where they apply categories and releasability.
import { names, text } from './params.ts'

export const classificationOptions = {
  classification: text('LEVEL', 'a level of the site’s labelling policy'),
  categories: names('A,B', 'categories that a reader must hold'),
  releasableTo: names('A,B', 'tenants or nationalities that may see it; else the originator alone'),
}

type Typed = {
  readonly classification: string | undefined
  readonly categories: readonly string[]
  readonly releasableTo: readonly string[]
}

/** A bare level when nothing else was said; `unsaid` when not even that. */
export function classificationOf(given: Typed, unsaid: string) {
  const level = given.classification ?? unsaid
  if (given.categories.length === 0 && given.releasableTo.length === 0) return level
  return {
    level,
    ...(given.categories.length ? { categories: [...given.categories] } : {}),
    ...(given.releasableTo.length ? { releasable_to: [...given.releasableTo] } : {}),
  }
}
