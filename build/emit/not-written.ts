/** The error of a file that could not be written: which file, why, and what to do (contract 10.2). */

const noRight = ['this user may not write there', 'Change the permissions of its folder'] as const

/** The meaning of each error of the system, and the way out of it. */
const reasons: Record<string, readonly [reason: string, advice: string]> = {
  ENOSPC: ['the disk is full (ENOSPC)', 'Free some space on it'],
  EDQUOT: ['the quota of this user is used up (EDQUOT)', 'Free some space'],
  EFBIG: ['it is larger than a file may be here (EFBIG)', 'Raise the limit that `ulimit -f` prints'],
  EROFS: ['the disk is read-only (EROFS)', 'Make it writable'],
  EACCES: noRight,
  EPERM: noRight,
}

/** The file that stood in the place before is unchanged. */
export class NotWritten extends Error {
  override name = 'NotWritten'
  /** The command prints the sentence of an error with this field, and no stack: the fault is not in its code. */
  readonly syscall: string

  /** @param file absolute path of the file that was meant. @param cause an error of the file system. */
  constructor(file: string, cause: unknown) {
    const { code = '', message, syscall = 'write' } = cause as NodeJS.ErrnoException
    const [reason, advice] = reasons[code] ?? [message, 'Remove the cause']
    super(`${file} was not written: ${reason}. What stood there is unchanged. ${advice}, and run the command again`, {
      cause,
    })
    this.syscall = syscall
  }
}
