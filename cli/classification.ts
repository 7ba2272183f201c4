// A confidentiality label as it is typed: a level, and where they apply categories and releasability.
import { existsSync } from 'node:fs'
import { offline } from '../daemon/boot/offline.ts'
import { Failure } from './command.ts'
import { names, text } from './params.ts'
import type { Terminal } from './terminal.ts'

export const classificationOptions = {
  classification: text('LEVEL', 'a level of the site’s labelling policy; else its default'),
  categories: names('A,B', 'categories that a reader must hold'),
  releasableTo: names('A,B', 'tenants or nationalities that may see it; else the originator alone'),
}

type Typed = {
  readonly classification: string | undefined
  readonly categories: readonly string[]
  readonly releasableTo: readonly string[]
  readonly site: string | undefined
}

/** A bare level when nothing else was said; the site's default level when not even that. */
export async function classificationOf(given: Typed, terminal: Terminal) {
  const level = given.classification ?? (await defaultLevel(given, terminal))
  if (given.categories.length === 0 && given.releasableTo.length === 0) return level
  return {
    level,
    ...(given.categories.length ? { categories: [...given.categories] } : {}),
    ...(given.releasableTo.length ? { releasable_to: [...given.releasableTo] } : {}),
  }
}

/** Undefined when nothing was said: the service then knows which label it is. */
export async function classificationWhereSaid(given: Typed, terminal: Terminal) {
  const isSaid = given.classification !== undefined || given.categories.length > 0 || given.releasableTo.length > 0
  return isSaid ? await classificationOf(given, terminal) : undefined
}

/** Only a site on this machine says what its default is. */
async function defaultLevel({ site }: Typed, { env }: Terminal): Promise<string> {
  const folder = offline.findSite(site, env)
  if (!folder || !existsSync(folder.profile))
    throw new Failure(2, '--classification is needed where no site is at hand')
  const { siteSettings } = await offline.profile()
  return siteSettings(folder, env).labels.default_level
}
