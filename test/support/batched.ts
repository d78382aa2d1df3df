/**
 * Some at once: what is sent is many, and workerd's pace is no subject of this.
 * @param run tells what is wrong. @returns those that failed, by name.
 */
export async function batched<T>(
  cases: readonly (readonly [name: string, value: T])[],
  run: (value: T) => Promise<string | undefined>,
): Promise<string[]> {
  const failed: string[] = []
  for (let start = 0; start < cases.length; start += 16) {
    const batch = cases.slice(start, start + 16)
    const results = await Promise.all(
      batch.map(async ([what, value]) => {
        const problem = await run(value).catch(String)
        return problem === undefined ? undefined : `${what}: ${problem}`
      }),
    )
    failed.push(...results.filter((result) => result !== undefined))
  }
  return failed
}
