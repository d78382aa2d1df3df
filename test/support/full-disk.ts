/**
 * A disk that is full. `ulimit -f` needs no rights and works on each POSIX system: a write to a regular file beyond the limit fails with
 * EFBIG, which takes the same path through a command as the ENOSPC of a disk. Pipes still work.
 */

/** @param kib largest size of a file in KiB. @returns the words before a command. */
export function onFullDisk(kib = 0): string[] {
  const blocks = kib * 2 // POSIX counts blocks of 512 bytes
  return ['sh', '-c', `ulimit -f ${blocks}; exec "$@"`, 'sh']
}
