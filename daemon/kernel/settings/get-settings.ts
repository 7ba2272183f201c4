// Reads one section of the resolved settings.
import { ProfileError } from './profile-error.ts'
import type { ResolvedSettings, SettingsBlock, SettingValues } from './settings.ts'

/** The values of one section. Throws `ProfileError` when the section did not parse. */
export function getSettings<B extends SettingsBlock>(resolved: ResolvedSettings, section: B): SettingValues<B> {
  const values = resolved.values.get(section.name)
  if (!values) throw new ProfileError(resolved.problems)
  return values as SettingValues<B>
}
