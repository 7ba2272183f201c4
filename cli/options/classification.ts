// The options of a confidentiality label: level, categories and releasability.
import { existsSync } from 'node:fs'
import { offline } from '../../daemon/offline/offline.ts'
import { CommandFailure } from '../program/command.ts'
import { nameList, text } from '../program/params.ts'
import type { Terminal } from '../terminal/terminal.ts'

export const classificationOptions = {
  classification: text('LEVEL', 'Level of the site’s labelling policy (default: the policy’s default level)'),
  categories: nameList('A,B', 'Categories that a reader must hold'),
  releasableTo: nameList('A,B', 'Tenants or nationalities that may see it (default: the originator only)'),
}

type ClassificationInput = {
  readonly classification: string | undefined
  readonly categories: readonly string[]
  readonly releasableTo: readonly string[]
  readonly site: string | undefined
}

/** A bare level if neither categories nor releasability were given; the site's default level if no option was given. */
export async function resolveClassification(given: ClassificationInput, terminal: Terminal) {
  const level = given.classification ?? (await readDefaultLevel(given, terminal))
  if (given.categories.length === 0 && given.releasableTo.length === 0) return level
  return {
    level,
    ...(given.categories.length ? { categories: [...given.categories] } : {}),
    ...(given.releasableTo.length ? { releasable_to: [...given.releasableTo] } : {}),
  }
}

/** Undefined if no option was given: the service then chooses the label. */
export async function resolveClassificationIfGiven(given: ClassificationInput, terminal: Terminal) {
  const isGiven = given.classification !== undefined || given.categories.length > 0 || given.releasableTo.length > 0
  return isGiven ? await resolveClassification(given, terminal) : undefined
}

/** Reads the default level from the site on this machine. */
async function readDefaultLevel({ site }: ClassificationInput, { env }: Terminal): Promise<string> {
  const folder = offline.findSite(site, env)
  if (!folder || !existsSync(folder.profile))
    throw new CommandFailure(2, '--classification is required without a local site: its default level is not known')
  const { readSiteSettings } = await offline.profile()
  return readSiteSettings(folder, env).labels.default_level
}
