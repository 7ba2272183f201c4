// Has a downloaded file scanned before it is read, by the program that the profile names.

import { bodyScanner, scanLimits } from '../../../../adapters/platform/body-scanner/body-scanner.ts'
import { openSandbox } from '../../../../adapters/sandbox/linux/open-sandbox.ts'
import type { ScannerSettings } from '../../../shared/body-scanner/scanner-settings.ts'
import { RowSourceError } from '../../../shared/row-source/row-source.ts'

/** A file that every scanner passes: one that refuses it is broken. */
const trial_file = 'id,name\n1,trial\n'

/** Any unclear answer counts as a refusal, after which another try may succeed. Throws `RowSourceError`. */
export async function scanDownload(settings: ScannerSettings, file: string): Promise<void> {
  const sandbox = await openSandbox(scanLimits(settings)).catch(() => undefined)
  if (!sandbox) throw new RowSourceError('no scanner can be run in a sandbox here: `platform doctor` names why', false)
  const result = await bodyScanner(settings, sandbox, trial_file).scan(file)
  if (result.answer === 'refused') throw new RowSourceError('the scanner refuses the file')
  if (result.answer === 'unknown') throw new RowSourceError(`the file could not be scanned: ${result.detail}`, false)
}
