"""Small robot hands as files: a URDF gripper and an MJCF hand with odd joints."""

from __future__ import annotations

URDF = b"""
<robot name="gripper">
  <link name="mount"/>
  <joint name="mount_joint" type="fixed"><parent link="mount"/><child link="palm"/>
    <origin xyz="0.1 0.2 0.3" rpy="0.3 -0.2 0.5"/></joint>
  <link name="palm"><inertial><origin xyz="0.01 0.002 0"/><mass value="0.05"/>
    <inertia ixx="1e-5" iyy="2e-5" izz="2e-5" ixy="1e-6" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0.02 0 0"/><geometry><box size="0.04 0.08 0.03"/></geometry></collision>
  </link>
  <joint name="jaw" type="prismatic"><parent link="palm"/><child link="jaw_link"/>
    <origin xyz="0.05 0.04 0" rpy="0.1 0.7 -0.4"/><axis xyz="0 -1 0"/>
    <limit lower="0" upper="0.03" effort="10" velocity="1"/></joint>
  <link name="jaw_link"><inertial><origin xyz="0.01 0.002 0"/><mass value="0.05"/>
    <inertia ixx="1e-5" iyy="2e-5" izz="2e-5" ixy="1e-6" ixz="0" iyz="0"/></inertial>
    <visual><geometry><sphere radius="0.5"/></geometry></visual>
    <collision><origin xyz="0.02 0 0" rpy="0 1.5707963 0"/>
      <geometry><cylinder radius="0.008" length="0.06"/></geometry></collision></link>
  <joint name="knuckle" type="revolute"><parent link="palm"/><child link="knuckle_link"/>
    <origin xyz="0.05 -0.04 0" rpy="0 0 0.3"/><axis xyz="0 0 1"/>
    <limit lower="-0.2" upper="1.4" effort="1" velocity="1"/></joint>
  <link name="knuckle_link"><inertial><origin xyz="0.01 0.002 0"/><mass value="0.05"/>
    <inertia ixx="1e-5" iyy="2e-5" izz="2e-5" ixy="1e-6" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0.02 0 0" rpy="0 1.5707963 0"/>
      <geometry><cylinder radius="0.008" length="0.04"/></geometry></collision></link>
  <joint name="end" type="revolute"><parent link="knuckle_link"/><child link="end_link"/>
    <origin xyz="0.04 0 0" rpy="0.2 0 0"/><axis xyz="0 0 2"/>
    <mimic joint="knuckle" multiplier="0.5" offset="0.1"/>
    <limit lower="0" upper="0.6" effort="1" velocity="1"/></joint>
  <link name="end_link"><inertial><origin xyz="0.01 0.002 0"/><mass value="0.05"/>
    <inertia ixx="1e-5" iyy="2e-5" izz="2e-5" ixy="1e-6" ixz="0" iyz="0"/></inertial></link>
  <joint name="tip_joint" type="fixed"><parent link="end_link"/><child link="tip_link"/>
    <origin xyz="0.02 0 0" rpy="0 0.1 0"/></joint>
  <link name="tip_link">
    <collision><geometry><sphere radius="0.007"/></geometry></collision></link>
</robot>
"""

MJCF = b"""
<mujoco>
  <compiler angle="radian"/>
  <asset><mesh name="wedge" vertex="0 0 0  .05 0 0  0 .02 0  0 0 .02  .05 .02 0  .05 0 .02
                                    .05 .02 .02 0 .02 .02"/></asset>
  <worldbody>
    <body name="target" mocap="true"><geom size="0.3" contype="0" conaffinity="0"/></body>
    <body name="base" pos="1 2 3" quat="0.5 0.1 0.3 0.2">
      <freejoint/>
      <geom type="ellipsoid" size="0.03 0.02 0.02"/>
      <body name="a" pos="0.05 0 0" quat="0.9 0.1 0.4 0">
        <joint name="a1" axis="0 1 1" pos="0.001 0.002 0.003" range="-0.5 1" ref="0.3"/>
        <joint name="a2" type="slide" axis="1 0 0" range="-0.01 0.02" ref="-0.005"/>
        <joint name="a3" axis="1 0.5 0" pos="-0.002 0 0.004" range="-1 1.7"/>
        <geom type="box" size="0.02 0.01 0.01"/>
        <body name="b" pos="0.05 0.01 0" quat="0.3 0.3 0.9 0">
          <joint name="b1" axis="0 0 1" ref="0.2" range="0 1.5"/>
          <geom type="mesh" mesh="wedge"/>
          <body name="c" pos="0.06 0 0"><geom type="sphere" size="0.008"/></body>
        </body>
      </body>
      <body name="d" pos="0 0.06 0"><joint name="d1" axis="1 0 0" range="-0.2 1.5"/>
        <geom type="cylinder" size="0.02 0.004" pos="0 0.03 0"/>
        <geom type="capsule" size="0.006 0.02" pos="0 0.05 0" quat="1 1 0 0"/></body>
    </body>
  </worldbody>
  <equality><joint joint1="b1" joint2="a1" polycoef="0.05 0.4 0 0 0"/></equality>
</mujoco>
"""
