// A file system so small that a test can fill it: to the last page, or to the one before.
import { execFileSync, spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ToolRequirement, whenPresent } from '../runner/requires.ts'

export type SmallDisk = {
  readonly dir: string
  /** Fills it until so many pages are left. */
  fillLeaving(pages: number): void
  /** Everything is free again that nobody else has taken. */
  empty(): void
  unmount(): void
}

/** Throws where it may not be mounted. */
export function mountSmallDisk(megabytes: number): SmallDisk {
  const dir = fs.mkdtempSync(join(tmpdir(), 'small-disk-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=700`, 'tmpfs', dir])
  const ballast = join(dir, 'ballast')
  const empty = () => fs.rmSync(ballast, { force: true })
  return {
    dir,
    empty,
    fillLeaving(pages) {
      empty()
      const { bavail, bsize } = fs.statfsSync(dir)
      fs.writeFileSync(ballast, Buffer.alloc(Math.max(0, bavail - pages) * bsize))
    },
    unmount() {
      execFileSync('umount', ['-l', dir])
      fs.rmdirSync(dir)
    },
  }
}

const isMounted =
  spawnSync('sh', ['-c', 'd=$(mktemp -d) && mount -t tmpfs tmpfs $d && umount $d; s=$?; rmdir $d; exit $s']).status ===
  0

export const smallDiskRequirement: ToolRequirement = {
  isPresent: isMounted,
  name: 'a small disk',
  hint: 'only root may mount one',
}

/** A stand-in for `test` of tests that need such a disk. */
export const onSmallDisk = whenPresent(smallDiskRequirement)
