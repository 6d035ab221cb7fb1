/* Where the processor starts, and where the accelerator's interrupt takes it. */

    .global __job, __stack /* for link.ld */
    .set __job, SYSTEM_JOB
    .set __stack, SYSTEM_RAM_BYTES

    .section .start, "ax"
    .global start
start:
    j reset

/* An interrupt is counted and masked, as Linux's UIO does it: the driver clears its cause, and the
   next wait unmasks it. PicoRV32 has own instructions for this: maskirq and retirq. */
    .balign 16
    addi sp, sp, -16
    sw t0, 0(sp)
    sw t1, 4(sp)
    li t0, -1
    .insn r 0x0b, 6, 3, x0, t0, x0 /* maskirq zero, t0 */
    la t0, interrupts
    lw t1, 0(t0)
    addi t1, t1, 1
    sw t1, 0(t0)
    lw t0, 0(sp)
    lw t1, 4(sp)
    addi sp, sp, 16
    .insn r 0x0b, 0, 2, x0, x0, x0 /* retirq */

reset:
    la sp, __stack
    la t0, __bss_start
    la t1, __bss_end
1:  bgeu t0, t1, 2f
    sw zero, 0(t0)
    addi t0, t0, 4
    j 1b
2:  call main
    ebreak /* ends the run */
