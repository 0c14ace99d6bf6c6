{-# LANGUAGE BangPatterns #-}
-- Threads that share an MVar.
module Main (main) where

import Control.Concurrent
import Control.Monad
import Data.Bits
import Data.Word
import System.Environment

compute :: Word64 -> Int -> Word64
compute !value 0 = value
compute !value steps = compute (third (second (first value))) (steps - 1)
  where
    first v = v `xor` unsafeShiftL v 13
    second v = v `xor` unsafeShiftR v 7
    third v = v `xor` unsafeShiftL v 17

work :: MVar Word64 -> Int -> Int -> Int -> Word64 -> IO ()
work _ 0 _ _ _ = return ()
work shared left hold think own = do
  let !next = compute own think
  modifyMVar_ shared $ \value -> let !new = compute (value + (next .&. 1)) hold in return new
  work shared (left - 1) hold think next

main :: IO ()
main = do
  [threads, sections, hold, think] <- map read <$> getArgs
  shared <- newMVar 1
  done <- forM [1 .. threads] $ \number -> do
    end <- newEmptyMVar
    _ <- forkIO (work shared (sections `div` threads) hold think (fromIntegral number) >> putMVar end ())
    return end
  mapM_ takeMVar done
  readMVar shared >>= print
