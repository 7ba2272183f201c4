// Verifies a release bundle before anything of it is run.
import { offline } from '../../daemon/offline/offline.ts'
import { jsonOption } from '../options/site-options.ts'
import { command } from '../program/command.ts'
import { choice, required, text } from '../program/params.ts'
import { formatFields, line_break, printResult } from '../terminal/output.ts'

export const definition = command({
  words: 'verify-bundle',
  summary: 'Verify a release bundle offline',
  notes: [
    'Checks both signatures over the manifest, and that the bundle is exactly what the manifest lists: no file is',
    'missing, changed or added, none is a link, and each has its mode. The keys are PEM files that you hold already;',
    'a line such as `Not-After: 2028-12-31T00:00:00Z` above a key limits its validity. Exit code 5: do not install it.',
  ].join('\n'),
  positionals: { bundle: required(text('BUNDLE', 'Folder or tar archive of the bundle')) },
  options: {
    keys: required(text('DIR', 'Folder with the public keys of releases')),
    arch: choice('ARCH', 'Architecture that it must be for (default: that of this machine)', ['x64', 'arm64']),
    ...jsonOption,
  },
  example: 'platform verify-bundle platform-1.0.0-linux-x64.tar --keys /etc/platform/release-keys',
  async run({ bundle, keys, arch, json }, terminal) {
    const { verifyBundle } = await offline.bundle()
    const { manifest, signed_by } = verifyBundle({ folder: bundle, keys, arch })
    const { files, ...about } = manifest
    const verdict = { valid: true, ...about, files: files.length, signed_by }
    printResult(terminal, json, verdict, () =>
      [
        formatFields(terminal, { ...about, files: files.length }),
        ...signed_by.map(({ algorithm, file, fingerprint }) => `signed by ${algorithm} ${file} ${fingerprint}`),
      ].join(line_break),
    )
    return 0
  },
})
